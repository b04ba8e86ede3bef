"""The calls that the gateway carried between participants, from the gateway's own records alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from concord.trace.attributes import AGENT_NAME, REFUSED_BY, RESPONSE_TEXT, UNQUOTED_RESPONSE_WORDS, UNQUOTED_WORDS
from concord.trace.decoding import read
from concord.trace.report import Channel, ReportBatch, unpack
from concord.trace.step import StepFacts, as_utc
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.agent_ids import participant_of

MAX_CARRIED_TEXT: Final = 10_000_000
"""Characters that are read of the texts of a trial's carried calls. A participant may make any number of calls."""

_UNKNOWN: Final = datetime.max.replace(tzinfo=UTC)


class Delivery(NamedTuple):
    """A request or an answer that the gateway delivered, as one or more texts. Deliveries sort by their time.

    `at`: when it was sent; `began`: when its call began; by the gateway's clock. `datetime.max` where unknown.
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
        """The characters of all texts."""
        return sum(map(len, self.texts))


@dataclass(frozen=True, slots=True)
class CarriedCalls:
    """The attempts of participants to call each other.

    `calls`: by step id, whether the call failed. `deliveries`: those that were read, sorted. `unread`: the number of
    calls with a delivery that was not read.
    """

    calls: Mapping[str, bool]
    deliveries: Sequence[Delivery]
    unread: int


def is_observed(batch: ReportBatch) -> bool:
    """Whether the gateway wrote the batch. Other batches are not unpacked."""
    return batch.channel is Channel.OBSERVED and batch.reporter == GREEN_AGENT


def carried_calls(batches: Iterable[ReportBatch], roster: Roster, limit: int = MAX_CARRIED_TEXT) -> CarriedCalls:
    """The carried calls between two different participants, and their texts, up to `limit` characters.

    Calls that the gateway refused because of its own limits are left out. A failed call has no answer, but its callee
    may have read the request. Reading stops at the first delivery that exceeds the limit, even if later ones would fit.
    """
    calls: dict[str, bool] = {}
    first = _FirstDeliveries(limit)
    for batch in filter(is_observed, batches):
        for step in read(unpack(batch.body)).steps:
            ends = _ends(step, roster)
            if ends is not None and step.step_id not in calls:
                calls[step.step_id] = step.failure is not None
                for delivery in _deliveries(step, *ends):
                    first.add(delivery)
    return CarriedCalls(calls, first.in_order(), len(first.unread))


def _ends(step: StepFacts, roster: Roster) -> tuple[str, str] | None:
    """Caller and callee of a step that is a carried call between two participants. None for other steps."""
    invocation = step.agent_call
    caller = step.additional_attributes.get(AGENT_NAME, "")
    if invocation is None or caller not in roster or step.additional_attributes.get(REFUSED_BY):
        return None
    resolved = roster.resolve(invocation.agent_url, invocation.agent_name)
    callee = resolved if resolved in roster else participant_of(resolved)
    return None if callee not in roster or callee == caller else (caller, callee)


def _deliveries(step: StepFacts, caller: str, callee: str) -> Iterator[Delivery]:
    """The request and the answer of a carried call."""
    asked = (None if step.agent_call is None else step.agent_call.requests) or {}
    request = tuple(text for key in ("text", UNQUOTED_WORDS) if isinstance(text := asked.get(key), str))
    began, ended = _time(step.start_time), _time(step.end_time)
    if request:
        yield Delivery(began, began, step.step_id, False, caller, callee, request)
    answer = tuple(filter(None, map(step.additional_attributes.get, (RESPONSE_TEXT, UNQUOTED_RESPONSE_WORDS))))
    if answer and step.failure is None:
        yield Delivery(ended, began, step.step_id, True, callee, caller, answer)


def _time(reported: datetime | None) -> datetime:
    return _UNKNOWN if reported is None else as_utc(reported)


class _FirstDeliveries:
    """The first deliveries up to a limit of characters, added in any order. Holds little more than twice the limit."""

    def __init__(self, limit: int) -> None:
        self.unread: set[str] = set()
        self._limit = limit
        self._kept: list[Delivery] = []
        self._held = 0
        self._end: Delivery | None = None
        """The first delivery that is known to exceed the limit."""

    def add(self, delivery: Delivery) -> None:
        """Adds a delivery. Earlier ones may displace it later."""
        if self._end is not None and delivery > self._end:
            self.unread.add(delivery.step_id)
            return
        self._kept.append(delivery)
        self._held += delivery.size
        if self._held > 2 * self._limit:
            self._cut()

    def in_order(self) -> list[Delivery]:
        """The first deliveries within the limit."""
        self._cut()
        return self._kept

    def _cut(self) -> None:
        self._kept.sort()
        self._held = 0
        for index, delivery in enumerate(self._kept):
            size = delivery.size
            if self._held + size > self._limit:
                self._end = delivery
                self.unread.update(each.step_id for each in self._kept[index:])
                del self._kept[index:]
                return
            self._held += size
