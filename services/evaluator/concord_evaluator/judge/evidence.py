"""The evidence that the judge sees of a trial: the texts of its calls, without names, within a budget."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import PlainSerializer, PlainValidator

from concord.assessment.results import CallRecord
from concord.judging.model_answer import EVIDENCE, cost, cut, fair_limit
from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.report import Channel, Report
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.judge.aliases import Aliases
from concord_evaluator.trace.request_texts import with_nested

ASSESSOR: Final = "the assessor"
"""The name of the green agent, which gave the team its task. Agents cannot report in its name."""

MAX_CALLS: Final = 120

CallKey = tuple[str, str]
"""A call's step id and caller. Several callers may claim calls under one step id."""


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The texts of one call."""

    request: str
    response: str


@dataclass(frozen=True, slots=True)
class SeenCall:
    """One call as the judge sees it: numbered, with aliases and shortened texts.

    The judge does not see `step_id`, since agents choose it and may put any text into it.
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
    """An answer that counts, and the agents that gave it (none if a file does not name them).

    `fault`: the reason why it counts 0. The judge does not see the text of a faulty answer.
    """

    agents: tuple[str, ...]
    text: str
    fault: str = ""


StoredAliases = Annotated[Aliases, PlainValidator(Aliases), PlainSerializer(lambda aliases: aliases.agents)]
"""Aliases that are stored as the names of the agents, from which they follow."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The shown calls in causal order, and the answers that count.

    `condensed`: whether calls were left out or texts shortened. `target`: the answers that the task's author accepts.
    """

    calls: tuple[SeenCall, ...]
    task: str
    answers: tuple[SeenAnswer, ...]
    condensed: bool
    aliases: StoredAliases
    target: tuple[str, ...] = ()

    @property
    def asked_about(self) -> tuple[SeenAnswer, ...]:
        """The answers that the judge is asked about."""
        return tuple(answer for answer in self.answers if not answer.fault)


def choose_calls(calls: Sequence[CallRecord], limit: int = MAX_CALLS) -> list[CallRecord]:
    """The calls to show, in order. Of too many: the failed ones, then equally many from the start and the end."""
    if len(calls) <= limit:
        return list(calls)
    ends = [index for pair in zip(range(len(calls)), reversed(range(len(calls))), strict=True) for index in pair]
    failed = [index for index, call in enumerate(calls) if call.error is not None]
    chosen = set(list(dict.fromkeys([*failed, *ends]))[:limit])
    return [call for index, call in enumerate(calls) if index in chosen]


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


def make_evidence(
    calls: Sequence[CallRecord],
    omitted: int,
    texts: Mapping[CallKey, CallTexts],
    aliases: Aliases,
    task: str,
    answers: Sequence[SeenAnswer],
    budget: int = EVIDENCE,
    target: Sequence[str] = (),
) -> Evidence:
    """The evidence with aliases for all names. Texts that exceed their share of the budget lose their middle.

    All texts have the same share. What short texts leave of it goes to the long ones.
    """
    whole = tuple(_seen(number, call, texts, aliases) for number, call in enumerate(calls, start=1))
    task, given = aliases.hide(task), [replace(answer, text=aliases.hide(answer.text)) for answer in answers]
    call_texts = [text for call in whole for text in (call.request, call.response, call.error)]
    all_texts = [task, *(answer.text for answer in given), *call_texts]
    limit = fair_limit([cost(text) for text in all_texts], budget)
    shown = tuple(
        replace(
            call, request=cut(call.request, limit), response=cut(call.response, limit), error=cut(call.error, limit)
        )
        for call in whole
    )
    condensed = omitted > 0 or any(cost(text) > limit for text in all_texts)
    return Evidence(
        shown,
        cut(task, limit),
        tuple(replace(answer, text=cut(answer.text, limit)) for answer in given),
        condensed,
        aliases,
        tuple(map(aliases.hide, target)),
    )


def without_texts(evidence: Evidence) -> Evidence:
    """The same evidence without any text of agents."""
    calls = tuple(replace(call, request="", response="", error="") for call in evidence.calls)
    return replace(evidence, calls=calls, answers=())


def _seen(number: int, call: CallRecord, texts: Mapping[CallKey, CallTexts], aliases: Aliases) -> SeenCall:
    of_call = texts.get((call.step_id, call.caller), CallTexts("", ""))
    return SeenCall(
        id=f"call {number}",
        step_id=call.step_id,
        caller=aliases.of(call.caller, ASSESSOR if call.caller == GREEN_AGENT else "a stranger"),
        callee=aliases.of(call.callee, "a stranger"),
        request=aliases.hide(of_call.request),
        response=aliases.hide(of_call.response),
        error=aliases.hide(call.error or ""),
    )


_Rank = tuple[bool, bool, int, str, str]


def _rank(report: Report, caller: str, texts: CallTexts, *, direct: bool) -> _Rank:
    """The preference among reports of a call. Comparing the texts makes the order total."""
    observed = direct and report.channel is Channel.OBSERVED
    own = direct and report.reporter == caller.partition("/")[0]
    return observed, own, len(texts.request) + len(texts.response), texts.request, texts.response
