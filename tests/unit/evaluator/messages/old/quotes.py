"""The former quotations of calls."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from concord.assessment.results import CallRecord
from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.report import Channel, Report
from concord.trace.step import StepFacts
from concord_evaluator.trace import Call
from concord_evaluator.trace.reading import MAX_TEXT, text_of, with_nested

CallKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The texts of one call."""

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


def quotations(reports: Iterable[Report], calls: Iterable[Call]) -> dict[tuple[str, str], _Quotation]:
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


def call_texts(reports: Iterable[Report], calls: Iterable[CallRecord]) -> dict[CallKey, CallTexts]:
    """The texts of calls.

    Of several reports of a call, the gateway's observation counts first, then the caller's report, then the longest. So
    no other reporter can replace a caller's text.
    """
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for call in calls:
        callers[call.step_id].add(call.caller)
    found: dict[CallKey, tuple[_Rank, CallTexts]] = {}
    for report in reports:
        for step, direct in with_nested(report.step):
            of_call = callers.get(step.step_id, ())
            if not of_call or (invocation := step.agent_call) is None:
                continue
            asked = invocation.requests.get("text") if invocation.requests else None
            texts = CallTexts(
                asked if isinstance(asked, str) else "", step.additional_attributes.get(RESPONSE_TEXT, "")
            )
            for caller in of_call:
                key, rank = (step.step_id, caller), _rank(report, caller, texts, direct=direct)
                if key not in found or rank > found[key][0]:
                    found[key] = rank, texts
    return {key: texts for key, (_, texts) in found.items()}


_Rank = tuple[bool, bool, int, str, str]


def _rank(report: Report, caller: str, texts: CallTexts, *, direct: bool) -> _Rank:
    """The preference among reports of a call. Comparing the texts makes the order total."""
    observed = direct and report.channel is Channel.OBSERVED
    own = direct and report.reporter == caller.partition("/")[0]
    return observed, own, len(texts.request) + len(texts.response), texts.request, texts.response
