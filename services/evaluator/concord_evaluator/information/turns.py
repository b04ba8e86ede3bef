"""The times of a trial's turns: which seats did not reply as asked, and when each gave its answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from concord.assessment.verdict import CauseKind


@dataclass(frozen=True, slots=True)
class Turns:
    """The rounds in which seats did not reply as asked, by seat. By calls: all times, for seats that did not reply."""

    unreadable: Mapping[str, frozenset[int]] = field(default_factory=dict)
    late: Mapping[str, frozenset[int]] = field(default_factory=dict)
    failed: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def fault(self, seat: str, times: Iterable[int]) -> CauseKind | None:
        """The error of a seat's turns at these times; None if the seat replied as asked in all of them."""
        wanted = frozenset(times)
        for missed, cause in (
            (self.failed, CauseKind.AGENT_FAILED),
            (self.late, CauseKind.TOO_LATE),
            (self.unreadable, CauseKind.UNREADABLE),
        ):
            if wanted & missed.get(seat, frozenset()):
                return cause
        return None


@dataclass(frozen=True, slots=True)
class Answered:
    """When each seat gave its last answer, and the last turn of the trial.

    `in_rounds`: a message takes a round from a seat to its neighbour. Without rounds, times only order the messages.
    """

    times: Mapping[str, int]
    end: int
    in_rounds: bool = True
