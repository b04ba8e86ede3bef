"""What was said in the calls of a trial, in words: for evaluators that read texts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from concord.reports import Channel, Report
from concord.steps import InteractionStep
from concord_evaluator.pipeline.evaluator import TrialInput
from concord_evaluator.trace import Call
from concord_evaluator.trace.texts import MAX_TEXT, text_of

MAX_EXCHANGES: Final = 500
"""Calls whose words are read; a trace may have any number."""

MAX_STEPS: Final = 50_000
"""Steps beyond which a trace is not read a second time: that takes as long as all the rest, and a job has seconds."""

RESPONSE_TEXT: Final = "response_text"
"""The attribute of a call in which its caller quotes the answer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call in words, of at most `MAX_TEXT` characters each way; empty where nobody tells."""

    caller: str
    callee: str
    step_id: str
    request: str
    response: str


class _Telling(NamedTuple):
    """What one report says of a call, to be compared: the more trusted first, then the one that says more."""

    observed: bool
    authenticated: bool
    length: int
    request: str
    response: str


def exchanges(trial: TrialInput, limit: int = MAX_EXCHANGES) -> list[Exchange]:
    """The trial's calls in words and in causal order, the assessor's among them; evenly spread where too many.

    Where several tell of a call, what was observed counts, else what was authenticated, else what says most. Reads
    the whole trace once more; of one with more than `MAX_STEPS` steps there are none. The result does not depend on
    the order of the reports.
    """
    if trial.projection.integrity.steps > MAX_STEPS:
        return []
    calls = _spread(trial.projection.calls, limit)
    told = _told(trial.reports(), {call.step_id for call in calls})
    silent = _Telling(False, False, 0, "", "")
    said = [(call, told.get(call.step_id, silent)) for call in calls]
    return [Exchange(call.caller, call.callee, call.step_id, each.request, each.response) for call, each in said]


def _spread(calls: Sequence[Call], limit: int) -> list[Call]:
    if len(calls) <= limit:
        return list(calls)
    return [calls[number * len(calls) // limit] for number in range(limit)]


def _told(reports: Iterable[Report], wanted: set[str]) -> dict[str, _Telling]:
    told: dict[str, _Telling] = {}
    for report in reports:
        for step, direct in _with_nested(report.step):
            if step.step_id in wanted and (telling := _telling(step, report, direct=direct)) is not None:
                known = told.get(step.step_id)
                told[step.step_id] = telling if known is None else max(known, telling)
    return told


def _telling(step: InteractionStep, report: Report, *, direct: bool) -> _Telling | None:
    call = step.agent_call
    if call is None:
        return None
    request = "" if call.requests is None else text_of(call.requests)
    response = step.additional_attributes.get(RESPONSE_TEXT, "")[:MAX_TEXT]
    observed = direct and report.channel is Channel.OBSERVED
    return _Telling(observed, direct and report.authenticated, len(request) + len(response), request, response)


def _with_nested(step: InteractionStep) -> Iterator[tuple[InteractionStep, bool]]:
    """The step, and those that came in its answer, which its reporter only relays."""
    pending = [(step, True)]
    while pending:
        each, direct = pending.pop()
        yield each, direct
        call = each.agent_call
        if call is not None and call.response_trace is not None:
            pending.extend((nested, False) for nested in call.response_trace.steps)
