"""The causes of wrong parts, and what they follow from beside the messages: turns, and the times of answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class PartCause(StrEnum):
    """Why a part of an answer is not right."""

    NOT_SENT = "not_sent"
    """A seat told nobody the facts of its brief. By calls, if nobody called it either, it shares this with the seat
    that needed the fact."""
    MISDIRECTED = "misdirected"
    """A seat told only seats that neither needed the fact nor were on the way to one, or an unknown seat."""
    UNDELIVERED = "undelivered"
    """A seat told a neighbour, and their connection did not deliver it."""
    NOT_PASSED_ON = "not_passed_on"
    """A seat was told, and did not tell the next."""
    CHANGED = "changed"
    """A seat told something else than it knew."""
    CONTRADICTED = "contradicted"
    """A seat stated two values for one fact, the wrong one last."""
    INVENTED = "invented"
    """A seat stated a value that stands in no brief and follows from none."""
    TRUNCATED = "truncated"
    """A seat's message was cut off, and the fact is not in what was left of it."""
    TOO_LATE = "too_late"
    """A seat told it later than it could have, and after the answer or the last round."""
    ANSWERED_EARLY = "answered_early"
    """A seat answered before the needed facts could arrive, and did not correct its answer."""
    NOT_USED = "not_used"
    """Everything needed arrived, and the answer is wrong."""
    UNREADABLE = "unreadable"
    """A seat's reply or answer does not have the form that was asked for."""
    NO_ANSWER = "no_answer"
    """Everything needed arrived, and there is no answer."""
    AGENT_FAILED = "agent_failed"
    """A seat's agent failed."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The rounds in which seats did not reply as asked, by seat. By calls: all times, for seats that did not reply."""

    unreadable: Mapping[str, frozenset[int]] = field(default_factory=dict)
    late: Mapping[str, frozenset[int]] = field(default_factory=dict)
    failed: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def fault(self, seat: str, times: Iterable[int]) -> PartCause | None:
        """The error of a seat's turns at these times; None if the seat replied as asked in all of them."""
        wanted = frozenset(times)
        for missed, cause in (
            (self.failed, PartCause.AGENT_FAILED),
            (self.late, PartCause.TOO_LATE),
            (self.unreadable, PartCause.UNREADABLE),
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


@dataclass(frozen=True, slots=True)
class FactLoss:
    """Why a fact did not arrive, at which seat (any of them, if several), and the message that shows it."""

    cause: PartCause
    seats: tuple[str, ...]
    step_id: str | None = None
