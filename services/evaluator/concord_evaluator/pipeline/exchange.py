"""What was said in the calls of a trial, in words: for evaluators that read texts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from concord.trace.report import Channel, Report
from concord.trace.step import StepFacts
from concord_evaluator.pipeline.evaluator import TrialInput
from concord_evaluator.trace import Call
from concord_evaluator.trace.request_texts import MAX_TEXT, text_of, with_nested

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
    by_caller: bool
    authenticated: bool
    length: int
    request: str
    response: str


def exchanges(trial: TrialInput, limit: int = MAX_EXCHANGES) -> list[Exchange]:
    """The trial's calls in words and in causal order, the assessor's among them; evenly spread where too many.

    Where several tell of a call, what was observed counts, else what its caller says, else what was authenticated,
    else what says most: nobody puts words into a caller's mouth. Reads the whole trace once more; of one with more
    than `MAX_STEPS` steps there are none. The result does not depend on the order of the reports.
    """
    if trial.projection.integrity.steps > MAX_STEPS:
        return []
    calls = _spread(trial.projection.calls, limit)
    told = _told(trial.reports(), calls)
    silent = _Telling(False, False, False, 0, "", "")
    said = [(call, told.get((call.step_id, call.caller), silent)) for call in calls]
    return [Exchange(call.caller, call.callee, call.step_id, each.request, each.response) for call, each in said]


def _spread(calls: Sequence[Call], limit: int) -> list[Call]:
    if len(calls) <= limit:
        return list(calls)
    return [calls[number * len(calls) // limit] for number in range(limit)]


def _told(reports: Iterable[Report], calls: Iterable[Call]) -> dict[tuple[str, str], _Telling]:
    """The best telling of each call, by step id and caller: several may claim calls of their own under one step id."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for call in calls:
        callers[call.step_id].add(call.caller)
    told: dict[tuple[str, str], _Telling] = {}
    for report in reports:
        for step, direct in with_nested(report.step):
            for caller in callers.get(step.step_id, ()):
                if (telling := _telling(step, report, caller, direct=direct)) is not None:
                    known = told.get((step.step_id, caller))
                    told[step.step_id, caller] = telling if known is None else max(known, telling)
    return told


def _telling(step: StepFacts, report: Report, caller: str, *, direct: bool) -> _Telling | None:
    call = step.agent_call
    if call is None:
        return None
    request = "" if call.requests is None else text_of(call.requests)
    response = step.additional_attributes.get(RESPONSE_TEXT, "")[:MAX_TEXT]
    return _Telling(
        observed=direct and report.channel is Channel.OBSERVED,
        by_caller=direct and report.reporter == caller.partition("/")[0],
        authenticated=direct and report.authenticated,
        length=len(request) + len(response),
        request=request,
        response=response,
    )
