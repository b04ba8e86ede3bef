"""Quoted calls: the requests and responses of a trial's calls as text, for evaluators that read texts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.report import Channel, Report
from concord.trace.step import StepFacts
from concord_evaluator.pipeline.evaluator import TrialInput
from concord_evaluator.trace import Call
from concord_evaluator.trace.request_texts import MAX_TEXT, text_of, with_nested

MAX_QUOTED_CALLS: Final = 500
"""Calls whose texts are read. A trace may have any number of calls."""

MAX_STEPS: Final = 50_000
"""Steps up to which a trace is read a second time, which takes as long as the rest of the evaluation."""


@dataclass(frozen=True, slots=True)
class QuotedCall:
    """The texts of one call, at most `MAX_TEXT` characters each; empty where no report has them."""

    caller: str
    callee: str
    step_id: str
    request: str
    response: str


class _Quotation(NamedTuple):
    """The texts that one report has of a call. Sorts by trust, then by length."""

    observed: bool
    by_caller: bool
    authenticated: bool
    length: int
    request: str
    response: str


def quoted_calls(trial: TrialInput, limit: int = MAX_QUOTED_CALLS) -> list[QuotedCall]:
    """The texts of the trial's calls in causal order, including the assessor's; of too many calls, an even selection.

    Where several reports have texts of a call, the order of preference is: observed by the gateway, reported by the
    caller, authenticated, longest. So no other reporter can replace a caller's text. Reads the whole trace again; a
    trace of more than `MAX_STEPS` steps has no quoted calls. The result does not depend on the order of reports.
    """
    if trial.projection.integrity.steps > MAX_STEPS:
        return []
    calls = _spread(trial.projection.calls, limit)
    quotations = _quotations(trial.reports(), calls)
    unknown = _Quotation(False, False, False, 0, "", "")
    quoted = [(call, quotations.get((call.step_id, call.caller), unknown)) for call in calls]
    return [QuotedCall(call.caller, call.callee, call.step_id, each.request, each.response) for call, each in quoted]


def _spread(calls: Sequence[Call], limit: int) -> list[Call]:
    if len(calls) <= limit:
        return list(calls)
    return [calls[number * len(calls) // limit] for number in range(limit)]


def _quotations(reports: Iterable[Report], calls: Iterable[Call]) -> dict[tuple[str, str], _Quotation]:
    """The preferred quotation of each call, by step id and caller: callers may reuse each other's step ids."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for call in calls:
        callers[call.step_id].add(call.caller)
    best: dict[tuple[str, str], _Quotation] = {}
    for report in reports:
        for step, direct in with_nested(report.step):
            for caller in callers.get(step.step_id, ()):
                if (quotation := _quotation(step, report, caller, direct=direct)) is not None:
                    known = best.get((step.step_id, caller))
                    best[step.step_id, caller] = quotation if known is None else max(known, quotation)
    return best


def _quotation(step: StepFacts, report: Report, caller: str, *, direct: bool) -> _Quotation | None:
    call = step.agent_call
    if call is None:
        return None
    request = "" if call.requests is None else text_of(call.requests)
    response = step.additional_attributes.get(RESPONSE_TEXT, "")[:MAX_TEXT]
    return _Quotation(
        observed=direct and report.channel is Channel.OBSERVED,
        by_caller=direct and report.reporter == caller.partition("/")[0],
        authenticated=direct and report.authenticated,
        length=len(request) + len(response),
        request=request,
        response=response,
    )
