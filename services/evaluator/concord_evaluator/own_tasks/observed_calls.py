"""The calls of a trial as the gateway observed them, and the messages in them in time order."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from concord.trace.attributes import (
    AGENT_NAME,
    REFUSED_BY,
    RESPONSE_TEXT,
    TASK_STATE,
    UNQUOTED_RESPONSE_WORDS,
    UNQUOTED_WORDS,
)
from concord.trace.decoding import steps_of_batch
from concord.trace.report import ReportBatch
from concord.trace.step import StepFacts, as_utc
from concord.trace.timing import MAX_QUOTED
from concord.wire.roster import GREEN_AGENT, Roster

_GRACE: Final = timedelta(milliseconds=100)
"""The gateway notes the end of a call a moment after its caller got the answer, which may act on it at once."""

_UNKNOWN: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says. `words`: words beyond the text, without order. `whole`: whether nothing else is in it."""

    text: str
    words: str = ""

    @property
    def whole(self) -> bool:
        """Whether the text is all of the message."""
        return not self.words and len(self.text) < MAX_QUOTED

    @property
    def blank(self) -> bool:
        """Whether the message says nothing."""
        return not self.text.strip() and not self.words.strip()


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call. `response`: None without an answer. `answered`: whether its callee answered, possibly with a failure.

    `refused`: one of the gateway's limits ended it, which is no agent's failure.
    """

    step_id: str
    caller: str
    callee: str
    request: Said
    response: Said | None
    error: str | None
    answered: bool
    refused: bool
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an answer that reached its receiver."""

    at: datetime
    is_answer: bool
    call: ObservedCall
    sender: str
    receiver: str
    said: Said

    @property
    def step_id(self) -> str:
        """The step of its call."""
        return self.call.step_id


def observed_calls(batches: Iterable[ReportBatch], roster: Roster) -> list[ObservedCall]:
    """The calls that the gateway made or carried, each once, by their beginning."""
    found = dict[str, ObservedCall]()
    for batch in (each for each in batches if each.is_observed):
        for step in steps_of_batch(batch):
            if step.step_id not in found and (call := _call(step, roster)) is not None:
                found[step.step_id] = call
    return sorted(found.values(), key=lambda call: (call.began, call.ended, call.step_id))


def messages_of(calls: Sequence[ObservedCall]) -> list[Message]:
    """The requests and answers in calls, in time order. The request of a failed call counts: its callee may have read
    it.

    What an agent says in the moment before the end of a call of its own is noted comes after the answer to that call.
    """
    acts = defaultdict[str, list[datetime]](list)
    for call in calls:
        acts[call.caller].append(call.began)
        acts[call.callee].append(call.ended)
    ordered = {agent: sorted(times) for agent, times in acts.items()}
    return sorted((message for call in calls for message in _messages(call, ordered[call.caller])), key=_order)


def _order(message: Message) -> tuple[datetime, int, datetime, str]:
    moved = message.is_answer and message.at < message.call.ended
    return message.at, 0 if moved else 2 if message.is_answer else 1, message.call.ended, message.step_id


def _messages(call: ObservedCall, acts: Sequence[datetime]) -> Iterator[Message]:
    """The messages of a call. `acts`: when its caller sent anything, sorted."""
    if not call.refused:
        yield Message(call.began, False, call, call.caller, call.callee, call.request)
    if call.response is not None and call.error is None:
        first = bisect_right(acts, call.began if call.ended == _UNKNOWN else max(call.began, call.ended - _GRACE))
        at = min(call.ended, acts[first]) if first < len(acts) else call.ended
        yield Message(at, True, call, call.callee, call.caller, call.response)


def _call(step: StepFacts, roster: Roster) -> ObservedCall | None:
    attributes, call = step.additional_attributes, step.agent_call
    caller = attributes.get(AGENT_NAME, GREEN_AGENT)
    if call is None or (caller != GREEN_AGENT and caller not in roster):
        return None
    asked = call.requests or {}
    answered = TASK_STATE in attributes
    answer = Said(attributes.get(RESPONSE_TEXT, ""), attributes.get(UNQUOTED_RESPONSE_WORDS, ""))
    return ObservedCall(
        step.step_id,
        caller,
        roster.resolve(call.agent_url, call.agent_name),
        Said(_text(asked.get("text")), _text(asked.get(UNQUOTED_WORDS))),
        answer if answered else None,
        step.failure,
        answered,
        REFUSED_BY in attributes,
        _time(step.start_time),
        _time(step.end_time),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time(known: datetime | None) -> datetime:
    return _UNKNOWN if known is None else as_utc(known)
