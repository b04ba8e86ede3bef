"""Who said what to whom in a trial: each message once, with who attests it and what became of it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from concord.assessment.results import MOST_ROUNDS, CallRecord
from concord.trace.attributes import (
    AGENT_NAME,
    CUT_FROM,
    NOT_CARRIED,
    REFUSED_BY,
    RESPONSE_TEXT,
    ROUND,
    TASK_STATE,
    UNQUOTED_RESPONSE_WORDS,
    UNQUOTED_WORDS,
    WHOLE,
    whole_of,
)
from concord.trace.decoding import reports_of
from concord.trace.report import Channel, Report, ReportBatch
from concord.trace.step import as_utc
from concord.trace.stored_step import CalledAgent, Step
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.links import Call
from concord_evaluator.trace.reading import with_nested

UNKNOWN_TIME: Final = datetime.max.replace(tzinfo=UTC)
"""Of a message whose time nobody tells: it comes after all others."""


class Trust(NamedTuple):
    """Who attests a message. What is attested better is greater."""

    observed: bool
    """The gateway carried it. No report makes another one so."""
    by_sender: bool
    """Who tells of it is its sender."""
    authenticated: bool
    """A token shows who tells of it."""


NOBODY: Final = Trust(observed=False, by_sender=False, authenticated=False)


class Sent(msgspec.Struct, frozen=True, gc=False):
    """A message from one agent to another: a request, or the answer to one.

    `delivered` is false if it reached nobody. `text`: what is quoted of it; `whole`: all of it, if that is known to be
    more; `words`: words beyond the text, without order.
    """

    step_id: str
    time: int
    """Its round or its place in the trial, from 1 on; 0 if nobody gave it one. Messages of the same time cross: none
    answers another."""
    sender: str
    receiver: str
    text: str
    delivered: bool
    is_cut: bool = False
    """Whether it is only the beginning of what its sender wrote."""
    is_answer: bool = False
    whole: str = ""
    words: str = ""
    at: datetime = UNKNOWN_TIME
    """When it was sent; of an answer, when it arrived."""
    ended: datetime = UNKNOWN_TIME
    """When the call that it is part of ended."""
    error: str | None = None
    """Of a request: why its call failed; None if it did not."""
    is_refused: bool = False
    """Whether one of the gateway's limits ended its call, which is no agent's failure."""
    provenance: Trust = NOBODY
    answer: "Sent | None" = None
    """Of a request: what its receiver answered, whatever became of that."""


def observed_requests(batches: Iterable[ReportBatch], roster: Roster) -> Iterator[Sent]:
    """The messages that the gateway sent or carried, each once, in the order of the trace, with their answers.

    What anybody else reports is not read: receipts and blame rest on these alone. Raises as `reports_of` does.
    """
    seen = set[str]()
    for report in chain.from_iterable(reports_of(batch) for batch in batches if batch.is_observed):
        step = report.step
        call, sender = step.agent_call, step.additional_attributes.get(AGENT_NAME, GREEN_AGENT)
        if call is not None and step.step_id not in seen and (sender == GREEN_AGENT or sender in roster):
            seen.add(step.step_id)
            yield request_in(
                step, call, sender, roster.resolve(call.agent_url, call.agent_name), trust_in(report, sender)
            )


def trust_in(report: Report, sender: str, *, direct: bool = True) -> Trust:
    """How far a report attests a message. `direct`: false for a step in an answer, which its reporter only relays."""
    return Trust(
        observed=direct and report.channel is Channel.OBSERVED,
        by_sender=direct and report.reporter == sender.partition("/")[0],
        authenticated=direct and report.authenticated,
    )


def request_in(step: Step, call: CalledAgent, sender: str, receiver: str, provenance: Trust) -> Sent:
    """The request of a call, with the answer to it. In rounds, it is a message, and nobody answers it."""
    attributes, asked = step.additional_attributes, call.requests or {}
    began, ended = time_of(step.start_time, step.end_time), time_of(step.end_time, step.start_time)
    number, error = _number(attributes.get(ROUND, "")), step.failure
    answer = Sent(
        step.step_id,
        number,
        receiver,
        sender,
        attributes.get(RESPONSE_TEXT, ""),
        error is None,
        is_answer=True,
        whole=whole_of(attributes),
        words=attributes.get(UNQUOTED_RESPONSE_WORDS, ""),
        at=ended,
        ended=ended,
        provenance=provenance,
    )
    return Sent(
        step.step_id,
        number,
        sender,
        receiver,
        _text(asked.get("text")),
        NOT_CARRIED not in attributes,
        is_cut=CUT_FROM in attributes,
        whole=_text(asked.get(WHOLE)),
        words=_text(asked.get(UNQUOTED_WORDS)),
        at=began,
        ended=ended,
        error=error,
        is_refused=REFUSED_BY in attributes,
        provenance=provenance,
        answer=answer if TASK_STATE in attributes or answer.text else None,
    )


def _number(told: str) -> int:
    """A round; 0 for what is none, as anybody may report anything."""
    return int(told) if told.isdecimal() and len(told) <= len(str(MOST_ROUNDS)) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def time_of(known: datetime | None, instead: datetime | None) -> datetime:
    """A time with a zone, or the other one if it is not known."""
    moment = known or instead
    return UNKNOWN_TIME if moment is None else as_utc(moment)


# The texts of calls that a trace is known to have: of several reports of one, those of the most credible.

CallKey = tuple[str, str]
"""A call's step id and caller. Several callers may claim calls under one step id."""


class CallTexts(NamedTuple):
    """The texts of one call."""

    request: str
    response: str


def texts_of_calls(
    reports: Iterable[Report], calls: Iterable[Call | CallRecord], quote: Callable[[Sent, CalledAgent], CallTexts]
) -> Mapping[CallKey, CallTexts]:
    """The texts of calls. `quote`: what is read of a request and its answer.

    Of several reports of a call, the gateway's observation counts first, then the caller's report, then one with a
    token, then the longest. So no other reporter can replace a caller's text, and the order of reports has no part.
    """
    callees: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for each in calls:
        callees[each.step_id][each.caller] = each.callee
    best: dict[CallKey, tuple[Trust, int, CallTexts]] = {}
    for report in reports:
        for step, direct in with_nested(report.step):
            if step.step_id not in callees or (call := step.agent_call) is None:
                continue
            for caller, callee in callees[step.step_id].items():
                request = request_in(step, call, caller, callee, trust_in(report, caller, direct=direct))
                texts = quote(request, call)
                told = request.provenance, sum(map(len, texts)), texts
                best[step.step_id, caller] = max(told, best.get((step.step_id, caller), told))
    return {key: texts for key, (_, _, texts) in best.items()}
