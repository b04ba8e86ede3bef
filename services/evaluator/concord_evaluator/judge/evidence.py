"""What the judge gets to see of a trial: its calls in words, without names, within a budget."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.reports import Report
from concord.results import CallRecord
from concord.steps import InteractionStep

MAX_CALLS: Final = 120
BUDGET: Final = 48_000
"""Characters of all texts together, about 12,000 tokens of English."""

_MIN_TEXT: Final = 120
_OMISSION: Final = " […] "


@dataclass(frozen=True, slots=True)
class CallTexts:
    """What was said in one call, as its caller reported it."""

    request: str
    response: str


@dataclass(frozen=True, slots=True)
class SeenCall:
    """One call as the judge sees it: ends by alias, texts shortened."""

    step_id: str
    caller: str
    callee: str
    request: str
    response: str
    error: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The calls shown, in causal order, the answer to the task, and whether anything was left out or shortened."""

    calls: tuple[SeenCall, ...]
    task: str
    answer: str
    condensed: bool


def choose_calls(calls: Sequence[CallRecord], limit: int = MAX_CALLS) -> list[CallRecord]:
    """The calls to show, in their order: all, or the failed ones first, then as many from the start as from the end."""
    if len(calls) <= limit:
        return list(calls)
    ends = [index for pair in zip(range(len(calls)), reversed(range(len(calls))), strict=True) for index in pair]
    failed = [index for index, call in enumerate(calls) if call.error is not None]
    chosen = set(list(dict.fromkeys([*failed, *ends]))[:limit])
    return [call for index, call in enumerate(calls) if index in chosen]


def texts_of(reports: Iterable[Report], step_ids: Collection[str]) -> dict[str, CallTexts]:
    """What was said in the calls asked for, by step id. Where several tell of a call, the longest telling counts."""
    found: dict[str, CallTexts] = {}
    for report in reports:
        for step in _with_nested(report.step):
            if step.step_id not in step_ids or (call := step.agent_call) is None:
                continue
            asked = call.requests.get("text") if call.requests else None
            texts = CallTexts(
                asked if isinstance(asked, str) else "", step.additional_attributes.get("response_text", "")
            )
            known = found.get(step.step_id)
            if known is None or (_length(texts), texts.request) > (_length(known), known.request):
                found[step.step_id] = texts
    return found


def show(
    calls: Sequence[CallRecord],
    omitted: int,
    texts: Mapping[str, CallTexts],
    agents: Sequence[str],
    task: str,
    answer: str,
    budget: int = BUDGET,
) -> Evidence:
    """The evidence: agents by alias everywhere, each text cut in its middle to its share of the budget."""
    aliases = {agent: f"agent {number}" for number, agent in enumerate(sorted(agents), start=1)}
    hide = _Aliases(aliases)
    share = max(_MIN_TEXT, budget // (2 * len(calls) + 4))
    empty = CallTexts("", "")
    shown = tuple(
        SeenCall(
            step_id=call.step_id,
            caller=aliases.get(call.caller, "the assessor"),
            callee=aliases.get(call.callee, "a stranger"),
            request=_cut(hide(texts.get(call.step_id, empty).request), share),
            response=_cut(hide(texts.get(call.step_id, empty).response), share),
            error=_cut(hide(call.error or ""), _MIN_TEXT),
        )
        for call in calls
    )
    condensed = omitted > 0 or any(_OMISSION in text for call in shown for text in (call.request, call.response))
    return Evidence(shown, _cut(hide(task), 2 * share), _cut(hide(answer), 2 * share), condensed)


def _with_nested(step: InteractionStep) -> Iterable[InteractionStep]:
    pending = [step]
    while pending:
        step = pending.pop()
        yield step
        call = step.agent_call
        if call is not None and call.response_trace is not None:
            pending.extend(call.response_trace.steps)


def _length(texts: CallTexts) -> int:
    return len(texts.request) + len(texts.response)


class _Aliases:
    """Puts aliases in the place of names: a judge should not know whom it judges."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        names = sorted(aliases, key=len, reverse=True)
        self._names = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b") if names else None

    def __call__(self, text: str) -> str:
        if self._names is None:
            return text
        return self._names.sub(lambda match: self._aliases[match[0]], text)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = (limit - len(_OMISSION)) // 2
    return text[:half] + _OMISSION + text[-half:]
