"""The calls that the gateway carried between participants, as its own records tell of them: no report is read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from concord.assessment.roster import GREEN_AGENT, Roster
from concord.trace.decoding import read
from concord.trace.observation import REFUSED_BY, RESPONSE_WORDS, WORDS_FIELD
from concord.trace.report import Channel, ReportBatch, unpack
from concord.trace.step import StepFacts, as_utc
from concord_evaluator.trace.agent_ids import participant_of

MAX_SAID: Final = 10_000_000
"""Characters that are read of what a trial's carried calls said: a participant may make any number of calls."""

_UNKNOWN: Final = datetime.max.replace(tzinfo=UTC)


class Delivery(NamedTuple):
    """A request or an answer on its way to its reader, in as many texts as it took. Deliveries sort by their time.

    `at`: when it was sent, `began`: when its call was, by the gateway's clock; the end of time where it does not say.
    """

    at: datetime
    began: datetime
    step_id: str
    is_answer: bool
    sender: str
    receiver: str
    texts: tuple[str, ...]

    @property
    def size(self) -> int:
        """Its characters."""
        return sum(map(len, self.texts))


@dataclass(frozen=True, slots=True)
class Carried:
    """The attempts of participants to call each other.

    `calls`: by step id, whether it failed. `deliveries`: those that are read, in the order of the proxy. `unread`: how
    many calls have a delivery that is not.
    """

    calls: Mapping[str, bool]
    deliveries: Sequence[Delivery]
    unread: int


def is_observed(batch: ReportBatch) -> bool:
    """Whether the gateway wrote the batch itself. Batches of others are not even unpacked."""
    return batch.channel is Channel.OBSERVED and batch.reporter == GREEN_AGENT


def carried_calls(batches: Iterable[ReportBatch], roster: Roster, room: int = MAX_SAID) -> Carried:
    """The carried calls between two different participants, and what was said in them, up to `room` characters.

    Calls that the gateway refused for a limit of its own are left out. A failed call has no answer; its request may
    have been read. The first delivery that does not fit ends the reading: no later one is read in its place.
    """
    calls: dict[str, bool] = {}
    said = _Said(room)
    for batch in filter(is_observed, batches):
        for step in read(unpack(batch.body)).steps:
            ends = _ends(step, roster)
            if ends is not None and step.step_id not in calls:
                calls[step.step_id] = step.failure is not None
                for delivery in _deliveries(step, *ends):
                    said.add(delivery)
    return Carried(calls, said.in_order(), len(said.unread))


def _ends(step: StepFacts, roster: Roster) -> tuple[str, str] | None:
    """Caller and callee of a step that counts as a carried call; None for any other step."""
    invocation = step.agent_call
    caller = step.additional_attributes.get("agent_name", "")
    if invocation is None or caller not in roster or step.additional_attributes.get(REFUSED_BY):
        return None
    callee = participant_of(roster.resolve(invocation.agent_url, invocation.agent_name))
    return None if callee not in roster or callee == caller else (caller, callee)


def _deliveries(step: StepFacts, caller: str, callee: str) -> Iterator[Delivery]:
    """What was said in a carried call."""
    asked = (None if step.agent_call is None else step.agent_call.requests) or {}
    request = tuple(text for key in ("text", WORDS_FIELD) if isinstance(text := asked.get(key), str))
    began, ended = _moment(step.start_time), _moment(step.end_time)
    if request:
        yield Delivery(began, began, step.step_id, False, caller, callee, request)
    answer = tuple(filter(None, map(step.additional_attributes.get, ("response_text", RESPONSE_WORDS))))
    if answer and step.failure is None:
        yield Delivery(ended, began, step.step_id, True, callee, caller, answer)


def _moment(told: datetime | None) -> datetime:
    return _UNKNOWN if told is None else as_utc(told)


class _Said:
    """The first deliveries of as many as are added in any order. Never holds much more than twice the room."""

    def __init__(self, room: int) -> None:
        self.unread: set[str] = set()
        self._room = room
        self._kept: list[Delivery] = []
        self._held = 0
        self._end: Delivery | None = None
        """The first one known not to fit."""

    def add(self, delivery: Delivery) -> None:
        """Keeps a delivery, for now at least."""
        if self._end is not None and delivery > self._end:
            self.unread.add(delivery.step_id)
            return
        self._kept.append(delivery)
        self._held += delivery.size
        if self._held > 2 * self._room:
            self._cut()

    def in_order(self) -> list[Delivery]:
        """Those that come first and fit."""
        self._cut()
        return self._kept

    def _cut(self) -> None:
        self._kept.sort()
        self._held = 0
        for place, delivery in enumerate(self._kept):
            size = delivery.size
            if self._held + size > self._room:
                self._end = delivery
                self.unread.update(each.step_id for each in self._kept[place:])
                del self._kept[place:]
                return
            self._held += size
