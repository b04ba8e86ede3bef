"""The messages of a trial in time order, from the gateway's own steps: in rounds, or as calls with their answers."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from concord.assessment.results import RoundsRecord, SeatReply
from concord.trace.attributes import AGENT_NAME, CUT_FROM, MAX_WHOLE, NOT_CARRIED, RESPONSE_TEXT, ROUND, WHOLE, whole_of
from concord.trace.decoding import steps_of_batch
from concord.trace.report import ReportBatch
from concord.trace.step import StepFacts, as_utc
from concord.wire.roster import Roster
from concord_evaluator.information.causes import Answered, Turns
from concord_evaluator.information.flow import Flow
from concord_evaluator.messages import Sent

MAX_MESSAGES: Final = 50_000
"""Messages of a trial that are read, the first ones."""

MAX_TIMES: Final = 100
"""Times at which the coverage of a trial by calls is given."""

_GRACE: Final = timedelta(milliseconds=100)
"""The gateway notes the end of a call a moment after its caller got the answer, which may end its turn at once."""

_UNKNOWN: Final = datetime.max.replace(tzinfo=UTC)


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
    """The messages of a trial in rounds. A message's time is its round."""
    messages, cut = list[Sent](), 0
    for step, sender, receiver in _steps(batches, roster):
        number, text = step.additional_attributes.get(ROUND), _requests(step).get("text")
        if len(messages) == MAX_MESSAGES:
            break
        if number is None:
            continue  # a call, which the gateway refused
        delivered = step.failure is None and int(number) < rounds.rounds
        said = text if isinstance(text, str) else ""
        is_cut = CUT_FROM in step.additional_attributes
        cut += is_cut
        messages.append(Sent(step.step_id, int(number), sender, receiver, said, delivered, is_cut))
    turns = Turns(*(_by_seat(rounds, state) for state in ("unreadable", "late", "failed")))
    answered = Answered(rounds.answered_in, rounds.rounds)
    times = range(1, rounds.rounds + 1)
    return Exchanged(messages, answered, turns, times, cut=cut, is_complete=len(messages) < MAX_MESSAGES)


def _by_seat(rounds: RoundsRecord, state: str) -> Mapping[str, frozenset[int]]:
    seats = {turn.seat for turn in rounds.turns}
    return {
        seat: frozenset(turn.round for turn in rounds.turns if turn.seat == seat and turn.state == state)
        for seat in seats
    }


class _Event(NamedTuple):
    """A request or an answer. Events sort by the gateway's clock; of one call, the request comes first."""

    at: datetime
    is_answer: bool
    step_id: str
    sender: str
    receiver: str
    text: str
    delivered: bool


def by_calls(
    batches: Iterable[ReportBatch], roster: Roster, replies: Sequence[SeatReply] | None, limit: int = MAX_WHOLE
) -> Exchanged:
    """The requests and answers of a trial by calls. A message's time is its place among them, from 1 on.

    A request that the gateway forwarded counts as delivered, whatever became of its call: its callee may have read it.
    `limit`: the characters of a message that are read.
    """
    found, answered = list[_Event](), set[str]()
    for step, sender, receiver in _steps(batches, roster):
        if len(found) >= MAX_MESSAGES:
            break
        found += _events(step, sender, receiver)
        if step.failure is None:
            answered.add(step.step_id)
    found.sort()
    messages = [
        Sent(each.step_id, place, each.sender, each.receiver, each.text, each.delivered, is_cut=len(each.text) > limit)
        for place, each in enumerate(found, start=1)
    ]
    replies = replies or []
    moments, end = [each.at for each in found], len(found) + 1
    gone = {state: frozenset(each.seat for each in replies if each.state == state) for state in ("late", "failed")}
    always = frozenset(range(1, end + 1))
    ends = [place for place, each in enumerate(found, start=1) if each.is_answer]
    return Exchanged(
        messages,
        Answered(
            {each.seat: bisect_right(moments, each.at + _GRACE) + 1 for each in replies if each.state == "replied"},
            end,
            in_rounds=False,
        ),
        Turns(late=dict.fromkeys(gone["late"], always), failed=dict.fromkeys(gone["failed"], always)),
        _spread(ends),
        frozenset(answered),
        cut=sum(len(each.text) > limit for each in found),
        is_complete=len(found) < MAX_MESSAGES,
    )


def _events(step: StepFacts, caller: str, callee: str) -> Iterator[_Event]:
    attributes, asked = step.additional_attributes, _requests(step)
    said = asked.get(WHOLE) or asked.get("text")
    began, ended = _time(step.start_time), _time(step.end_time)
    text = said if isinstance(said, str) else ""
    yield _Event(began, False, step.step_id, caller, callee, text, NOT_CARRIED not in attributes)
    if step.failure is None:
        answer = whole_of(attributes) or attributes.get(RESPONSE_TEXT, "")
        yield _Event(ended, True, step.step_id, callee, caller, answer, True)


def _steps(batches: Iterable[ReportBatch], roster: Roster) -> Iterator[tuple[StepFacts, str, str]]:
    """The calls between seats that the gateway observed, each once, with sender and receiver."""
    seen = set[str]()
    for batch in (each for each in batches if each.is_observed):
        for step in steps_of_batch(batch):
            call = step.agent_call
            sender = step.additional_attributes.get(AGENT_NAME, "")
            if call is not None and sender in roster and step.step_id not in seen:
                seen.add(step.step_id)
                yield step, sender, roster.resolve(call.agent_url, call.agent_name)


def _requests(step: StepFacts) -> Mapping[str, object]:
    return (None if step.agent_call is None else step.agent_call.requests) or {}


def _spread(times: Sequence[int]) -> Sequence[int]:
    """At most `MAX_TIMES` of the times, evenly, the last among them."""
    count = min(len(times), MAX_TIMES)
    return [times[(number + 1) * len(times) // count - 1] for number in range(count)]


def _time(known: datetime | None) -> datetime:
    return _UNKNOWN if known is None else as_utc(known)
