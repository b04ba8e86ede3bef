"""The messages of a trial in time order, from the gateway's own steps: in rounds, or as calls with their answers."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from msgspec.structs import replace

from concord.assessment.results import RoundsRecord, SeatReply
from concord.trace.attributes import MAX_WHOLE
from concord.trace.report import ReportBatch
from concord.wire.roster import Roster
from concord_evaluator.information.flow import Flow
from concord_evaluator.information.turns import Answered, Turns
from concord_evaluator.messages import Sent, observed_requests

MAX_MESSAGES: Final = 50_000
"""Messages of a trial that are read, the first ones."""

MAX_TIMES: Final = 100
"""Times at which the coverage of a trial by calls is given."""

_GRACE: Final = timedelta(milliseconds=100)
"""The gateway notes the end of a call a moment after its caller got the answer, which may end its turn at once."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What the seats of a trial sent each other, and when they answered."""

    messages: Sequence[Sent]
    answered: Answered
    turns: Turns
    times: Sequence[int]
    """After which times coverage is given."""
    answered_calls: frozenset[str] | None = None
    """The step ids of answered calls; None in rounds."""
    cut: int = 0
    """Messages of which only the beginning was delivered or read."""
    is_complete: bool = True
    """Whether all messages were read."""

    @property
    def count(self) -> int:
        """The delivered messages; by calls, the answered calls."""
        if self.answered_calls is not None:
            return len(self.answered_calls)
        return sum(each.delivered for each in self.messages)

    @property
    def sent(self) -> int:
        """The messages sent, delivered or not; by calls, the calls."""
        return len(self.messages) if self.answered_calls is None else len({each.step_id for each in self.messages})

    def redundant(self, flow: Flow) -> int:
        """Those of them that brought no fact that was new to a reader."""
        if self.answered_calls is None:
            return flow.redundant
        return len(self.answered_calls - {each.message.step_id for each in flow.messages if each.news})


def by_rounds(batches: Iterable[ReportBatch], roster: Roster, rounds: RoundsRecord) -> Exchanged:
    """The messages of a trial in rounds. A message's time is its round. A call, which the gateway refused, has none."""
    of_rounds = (each for each in _between_seats(batches, roster) if each.time)
    messages = [
        replace(each, delivered=each.error is None and each.time < rounds.rounds)
        for each in islice(of_rounds, MAX_MESSAGES)
    ]
    turns = Turns(*(_by_seat(rounds, state) for state in ("unreadable", "late", "failed")))
    return Exchanged(
        messages,
        Answered(rounds.answered_in, rounds.rounds),
        turns,
        range(1, rounds.rounds + 1),
        cut=sum(each.is_cut for each in messages),
        is_complete=len(messages) < MAX_MESSAGES,
    )


def _by_seat(rounds: RoundsRecord, state: str) -> Mapping[str, frozenset[int]]:
    seats = {turn.seat for turn in rounds.turns}
    return {
        seat: frozenset(turn.round for turn in rounds.turns if turn.seat == seat and turn.state == state)
        for seat in seats
    }


def by_calls(
    batches: Iterable[ReportBatch], roster: Roster, replies: Sequence[SeatReply] | None, limit: int = MAX_WHOLE
) -> Exchanged:
    """The requests and answers of a trial by calls. A message's time is its place among them, from 1 on.

    A request that the gateway forwarded counts as delivered, whatever became of its call: its callee may have read it.
    `limit`: the characters of a message that are read.
    """
    found = list[Sent]()
    for each in _between_seats(batches, roster):
        if len(found) >= MAX_MESSAGES:
            break
        found.append(each)
        if each.answer is not None and each.error is None:
            found.append(each.answer)
    found.sort(key=_order)
    texts = [each.whole or each.text for each in found]
    messages = [
        replace(each, time=place, text=text, is_cut=len(text) > limit)
        for place, (each, text) in enumerate(zip(found, texts, strict=True), start=1)
    ]
    replies = replies or []
    moments, end = [each.at for each in found], len(found) + 1
    gone = {state: frozenset(each.seat for each in replies if each.state == state) for state in ("late", "failed")}
    always = frozenset(range(1, end + 1))
    answers = [each for each in messages if each.is_answer]
    return Exchanged(
        messages,
        Answered(
            {each.seat: bisect_right(moments, each.at + _GRACE) + 1 for each in replies if each.state == "replied"},
            end,
            in_rounds=False,
        ),
        Turns(late=dict.fromkeys(gone["late"], always), failed=dict.fromkeys(gone["failed"], always)),
        _spread([each.time for each in answers]),
        frozenset(each.step_id for each in answers),
        cut=sum(each.is_cut for each in messages),
        is_complete=len(found) < MAX_MESSAGES,
    )


def _order(message: Sent) -> tuple[datetime, bool, str]:
    """By the gateway's clock; of one call, the request comes first."""
    return message.at, message.is_answer, message.step_id


def _between_seats(batches: Iterable[ReportBatch], roster: Roster) -> Iterator[Sent]:
    return (each for each in observed_requests(batches, roster) if each.sender in roster)


def _spread(times: Sequence[int]) -> Sequence[int]:
    """At most `MAX_TIMES` of the times, evenly, the last among them."""
    count = min(len(times), MAX_TIMES)
    return [times[(number + 1) * len(times) // count - 1] for number in range(count)]
