"""What the judge gets to see of a trial: its calls in words, without names, within a budget."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from concord.assessment.results import CallRecord
from concord.assessment.roster import GREEN_AGENT
from concord.trace.report import Channel, Report
from concord_evaluator.judge.aliases import Aliases
from concord_evaluator.judge.truncation import cost, cut, fair_limit
from concord_evaluator.trace.request_texts import with_nested

ASSESSOR: Final = "the assessor"
"""Who gave the team its task; the trace's own agents cannot report in its name."""

MAX_CALLS: Final = 120
BUDGET: Final = 48_000
"""Characters of all texts together as they are sent, about 12,000 tokens of English."""


CallKey = tuple[str, str]
"""A call's step id and caller: several may claim calls of their own under one step id."""


@dataclass(frozen=True, slots=True)
class CallTexts:
    """What was said in one call, as its caller reported it."""

    request: str
    response: str


@dataclass(frozen=True, slots=True)
class SeenCall:
    """One call as the judge sees it: by a number and aliases, texts shortened.

    `step_id` is not shown: agents choose it, so it is text like any other.
    """

    id: str
    step_id: str
    caller: str
    callee: str
    request: str
    response: str
    error: str


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """An answer that counts, and who gave it; nobody where a file does not say.

    `fault`: why it counts 0 and is not asked about. Its text is not shown then.
    """

    agents: tuple[str, ...]
    text: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The calls shown, in causal order, the answers that count, and whether anything was left out or shortened.

    `target`: what the author of the task accepts.
    """

    calls: tuple[SeenCall, ...]
    task: str
    answers: tuple[SeenAnswer, ...]
    condensed: bool
    aliases: Aliases
    target: tuple[str, ...] = ()

    @property
    def asked_about(self) -> tuple[SeenAnswer, ...]:
        """The answers that the judge is asked about."""
        return tuple(answer for answer in self.answers if not answer.fault)


def choose_calls(calls: Sequence[CallRecord], limit: int = MAX_CALLS) -> list[CallRecord]:
    """The calls to show, in their order: all, or the failed ones first, then as many from the start as from the end."""
    if len(calls) <= limit:
        return list(calls)
    ends = [index for pair in zip(range(len(calls)), reversed(range(len(calls))), strict=True) for index in pair]
    failed = [index for index, call in enumerate(calls) if call.error is not None]
    chosen = set(list(dict.fromkeys([*failed, *ends]))[:limit])
    return [call for index, call in enumerate(calls) if index in chosen]


def texts_of(reports: Iterable[Report], calls: Iterable[CallRecord]) -> dict[CallKey, CallTexts]:
    """What was said in calls.

    Where several tell of a call, whoever stood between the two comes first, then the caller, then the longest telling:
    nobody else puts words into a caller's mouth.
    """
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for call in calls:
        callers[call.step_id].add(call.caller)
    found: dict[CallKey, tuple[_Rank, CallTexts]] = {}
    for report in reports:
        for step, direct in with_nested(report.step):
            if (invocation := step.agent_call) is None:
                continue
            asked = invocation.requests.get("text") if invocation.requests else None
            texts = CallTexts(
                asked if isinstance(asked, str) else "", step.additional_attributes.get("response_text", "")
            )
            for caller in callers.get(step.step_id, ()):
                key, rank = (step.step_id, caller), _rank(report, caller, texts, direct=direct)
                if key not in found or rank > found[key][0]:
                    found[key] = rank, texts
    return {key: texts for key, (_, texts) in found.items()}


def show(
    calls: Sequence[CallRecord],
    omitted: int,
    texts: Mapping[CallKey, CallTexts],
    aliases: Aliases,
    task: str,
    answers: Sequence[SeenAnswer],
    budget: int = BUDGET,
    target: Sequence[str] = (),
) -> Evidence:
    """The evidence: agents by alias everywhere, and texts that take more than their share of the budget cut.

    The share is the same for all texts and as large as can be: what short ones leave goes to the long ones. A text
    that is cut loses its middle.
    """
    whole = tuple(_seen(number, call, texts, aliases) for number, call in enumerate(calls, start=1))
    task, given = aliases.hide(task), [replace(answer, text=aliases.hide(answer.text)) for answer in answers]
    told = [text for call in whole for text in (call.request, call.response, call.error)]
    said = [task, *(answer.text for answer in given), *told]
    limit = fair_limit([cost(text) for text in said], budget)
    shown = tuple(
        replace(
            call, request=cut(call.request, limit), response=cut(call.response, limit), error=cut(call.error, limit)
        )
        for call in whole
    )
    condensed = omitted > 0 or any(cost(text) > limit for text in said)
    return Evidence(
        shown,
        cut(task, limit),
        tuple(replace(answer, text=cut(answer.text, limit)) for answer in given),
        condensed,
        aliases,
        tuple(map(aliases.hide, target)),
    )


def silent(evidence: Evidence) -> Evidence:
    """The same evidence without a word that agents wrote."""
    calls = tuple(replace(call, request="", response="", error="") for call in evidence.calls)
    return replace(evidence, calls=calls, answers=())


def _seen(number: int, call: CallRecord, texts: Mapping[CallKey, CallTexts], aliases: Aliases) -> SeenCall:
    said = texts.get((call.step_id, call.caller), CallTexts("", ""))
    return SeenCall(
        id=f"call {number}",
        step_id=call.step_id,
        caller=aliases.of(call.caller, ASSESSOR if call.caller == GREEN_AGENT else "a stranger"),
        callee=aliases.of(call.callee, "a stranger"),
        request=aliases.hide(said.request),
        response=aliases.hide(said.response),
        error=aliases.hide(call.error or ""),
    )


_Rank = tuple[bool, bool, int, str, str]


def _rank(report: Report, caller: str, texts: CallTexts, *, direct: bool) -> _Rank:
    """How far a telling of a call is to be preferred; the texts themselves make the order total."""
    observed = direct and report.channel is Channel.OBSERVED
    own = direct and report.reporter == caller.partition("/")[0]
    return observed, own, len(texts.request) + len(texts.response), texts.request, texts.response
