"""The evidence that the judge sees of a trial: the texts of its calls, without names and without words to the judge."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import PlainSerializer, PlainValidator

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.results import AgentAnswer, CallRecord, GradedAnswer, TrialOutcome
from concord.judging.injection import addresses_judge, remove_passages, says_nothing
from concord.judging.model_answer import EVIDENCE, cost, cut, fair_limit
from concord.trace.report import Report
from concord.trace.stored_step import CalledAgent
from concord.wire.roster import GREEN_AGENT, RosterEntry
from concord_evaluator.messages import CallKey, CallTexts, Sent, texts_of_calls
from concord_evaluator.pipeline.verdict import answerers

# Aliases: hide the names of agents from the judge, and restore them in its answer.

_NUMBERED: Final = re.compile(r"\bagent (\d{1,6})\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_MIN_ANY_CASE: Final = 3
"""Names of this length and more match in any case. Shorter ones may be words: an agent `A` is not every article."""


class Aliases:
    """`agent 1`, `agent 2`, … for agents in the order of their ids. Also replaces their other names in a roster."""

    def __init__(self, agents: Iterable[str], roster: Sequence[RosterEntry] = ()) -> None:
        self.agents = tuple(sorted(agents))
        self._of = {agent: f"agent {number}" for number, agent in enumerate(self.agents, start=1)}
        known = {**_other_names(self.agents, roster), **{agent: agent for agent in self.agents}}
        self._names = _Names({name: self._of[agent] for name, agent in known.items() if name and agent in self._of})
        self._hidden: dict[str, str] = {}

    def of(self, agent: str, otherwise: str) -> str:
        """The alias of an agent; `otherwise` for an agent outside the team."""
        return self._of.get(agent, otherwise)

    def agent(self, alias: str) -> str | None:
        """The agent with that alias. None if there is none."""
        return next((agent for agent, known in self._of.items() if known == alias), None)

    def hide(self, text: str) -> str:
        """The text with names replaced by aliases."""
        if text not in self._hidden:  # a message to many is the text of as many calls
            self._hidden[text] = self._names.replaced_in(text)
        return self._hidden[text]

    def show(self, text: str) -> str:
        """The text with aliases replaced by names."""
        return _NUMBERED.sub(lambda match: self._name(int(match[1]), match[0]), text)

    def _name(self, number: int, otherwise: str) -> str:
        return self.agents[number - 1] if 1 <= number <= len(self.agents) else otherwise


def _other_names(agents: Sequence[str], roster: Sequence[RosterEntry]) -> Mapping[str, str]:
    """By name, the agent's id: addresses, aliases, AgentBeats ids, and inner names of agents inside a participant."""
    inner = {agent.rpartition("/")[2]: agent for agent in agents}
    listed = {
        name: entry.id for entry in roster for name in (entry.url.rstrip("/"), *entry.aliases, entry.agentbeats_id)
    }
    return {**inner, **{name: agent for name, agent in listed.items() if name}}


class _Names:
    """Names, and what replaces them where they are whole words; of several at one place the longest.

    One search for each of a thousand names would take minutes for the texts of a trial. Looked up are only the parts of
    a text that begin like a name and are as long as one.
    """

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._exact = {name: to for name, to in replacements.items() if len(name) < _MIN_ANY_CASE}
        self._any_case = {name.casefold(): to for name, to in replacements.items() if len(name) >= _MIN_ANY_CASE}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for name in replacements:
            lengths[name[0].casefold()].add(len(name))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        first = "".join(re.escape(name[0]) for name in replacements)
        self._start = re.compile(rf"(?<!\w)[{first}]", re.IGNORECASE) if first else None

    def replaced_in(self, text: str) -> str:
        """The text with the names replaced."""
        if self._start is None:
            return text
        parts: list[str] = []
        done = 0
        for match in self._start.finditer(text):
            start = match.start()
            if start >= done and (found := self._at(text, start)) is not None:
                end, replacement = found
                parts += text[done:start], replacement
                done = end
        return "".join([*parts, text[done:]])

    def _at(self, text: str, start: int) -> tuple[int, str] | None:
        """The end of the longest name that begins there, and its replacement."""
        for length in self._lengths.get(text[start].casefold(), ()):
            name, end = text[start : start + length], start + length
            replacement = self._any_case.get(name.casefold()) or self._exact.get(name)
            if replacement is not None and len(name) == length and not _WORD.match(text, end):
                return end, replacement
        return None


# The texts of the calls, within a budget.

ASSESSOR: Final = "the assessor"
"""The name of the green agent, which gave the team its task. Agents cannot report in its name."""

MAX_CALLS: Final = 120


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
class TrialEvidence:
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
    failed = [index for index, call in enumerate(calls) if call.error is not None]
    return [calls[index] for index in places_to_show(len(calls), failed, limit)]


def places_to_show(n: int, first: Sequence[int], limit: int) -> list[int]:
    """The places to show of `n`, in order. Of more than `limit`: the `first`, then equally many from both ends."""
    if n <= limit:
        return list(range(n))
    ends = [index for pair in zip(range(n), reversed(range(n)), strict=True) for index in pair]
    return sorted(list(dict.fromkeys([*first, *ends]))[:limit])


def call_texts(reports: Iterable[Report], calls: Iterable[CallRecord]) -> Mapping[CallKey, CallTexts]:
    """The texts of calls, as their most credible reports quote them."""
    return texts_of_calls(reports, calls, _quote)


def _quote(request: Sent, _: CalledAgent) -> CallTexts:
    return CallTexts(request.text, "" if request.answer is None else request.answer.text)


def make_evidence(
    calls: Sequence[CallRecord],
    omitted: int,
    texts: Mapping[CallKey, CallTexts],
    aliases: Aliases,
    task: str,
    answers: Sequence[SeenAnswer],
    budget: int = EVIDENCE,
    target: Sequence[str] = (),
) -> TrialEvidence:
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
    return TrialEvidence(
        shown,
        cut(task, limit),
        tuple(replace(answer, text=cut(answer.text, limit)) for answer in given),
        condensed,
        aliases,
        tuple(map(aliases.hide, target)),
    )


def without_texts(evidence: TrialEvidence) -> TrialEvidence:
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


# Screening: removes passages that address the judge from the evidence, and names their authors.

HOLLOW: Final = "The answer says nothing."
HOLLOWED: Final = "The answer says nothing but what is meant for the judge."


@dataclass(frozen=True, slots=True)
class Suspect:
    """A passage that addresses the judge, its author, and its call. None if unknown."""

    agent: str | None
    step_id: str | None
    quote: str


def screen(evidence: TrialEvidence) -> tuple[TrialEvidence, tuple[Suspect, ...]]:
    """The evidence without passages that address the judge; and these passages, also those in names and step ids.

    The judge never sees names and step ids. The rest of an answer counts; if it has no content, there is no answer.
    """
    suspects = [Suspect(agent, None, agent) for agent in evidence.aliases.agents if addresses_judge(agent)]
    calls = []
    for call in evidence.calls:
        screened, found = _call(call, evidence)
        calls.append(screened)
        suspects += found
    answers = []
    for answer in evidence.answers:
        text, taken = remove_passages(answer.text, evidence.task)
        suspects += [Suspect(agent, None, quote) for quote in taken for agent in answer.agents or (None,)]
        answers.append(_answer(answer, text, hollowed=bool(taken)))
    return replace(evidence, calls=tuple(calls), answers=tuple(answers)), tuple(suspects)


def _answer(answer: SeenAnswer, text: str, *, hollowed: bool) -> SeenAnswer:
    if answer.fault or not says_nothing(text):
        return replace(answer, text=text)
    return replace(answer, text="", fault=HOLLOWED if hollowed else HOLLOW)


def _call(call: SeenCall, evidence: TrialEvidence) -> tuple[SeenCall, list[Suspect]]:
    caller, callee = evidence.aliases.agent(call.caller), evidence.aliases.agent(call.callee)
    request, asked = (call.request, []) if call.caller == ASSESSOR else remove_passages(call.request, evidence.task)
    response, answered = remove_passages(call.response, evidence.task)
    error, failed = remove_passages(call.error, evidence.task)
    named = [call.step_id] if call.caller != ASSESSOR and addresses_judge(call.step_id) else []
    found: Iterator[Suspect] = (
        Suspect(agent, call.step_id, quote)
        for agent, quotes in ((caller, [*asked, *named]), (callee, [*answered, *failed]))
        for quote in quotes
    )
    return replace(call, request=request, response=response, error=error), list(found)


# The final answers of a trial: which count, which the judge is asked about, and their grades.

MAX_ANSWERS: Final = 8
"""The maximum number of different answers in one prompt."""

NO_ANSWER: Final = "There is no answer."
_FAULTS: Final = {"failed": "The agent failed.", "timeout": "The agent did not answer in time."}


def answers_of(plan: AssessmentPlan, outcome: TrialOutcome) -> tuple[SeenAnswer, ...]:
    """The answers that count for a trial. Raises KeyError for a trial that is not in the plan."""
    return answers_that_count(outcome, plan.mode, answerers(plan, outcome.trial_id))


def answers_that_count(outcome: TrialOutcome, mode: Mode, counted: Sequence[str] = ()) -> tuple[SeenAnswer, ...]:
    """Each different answer once, with all participants who gave it. Without `counted`, all participants count.

    A missing, empty, failed or late answer has a fault; if the task failed, all answers have. If only one text is
    known, it is the answer. Empty where nothing was asked.
    """
    if mode is Mode.GROUND_TRUTH:
        return ()
    failed = "" if outcome.state == "completed" else f"The task ended with {outcome.state}."
    if not outcome.answers:
        return _only_answer(outcome.answer or "", failed, mode)
    given = {answer.agent: answer for answer in outcome.answers}
    agents: dict[tuple[str, str], list[str]] = {}
    for agent in counted or given:
        agents.setdefault(("", failed) if failed else _text_and_fault(given.get(agent)), []).append(agent)
    return tuple(SeenAnswer(tuple(who), text, fault) for (text, fault), who in agents.items())


def _only_answer(text: str, failed: str, mode: Mode) -> tuple[SeenAnswer, ...]:
    if failed:
        return (SeenAnswer((), "", failed),)
    if text.strip():
        return (SeenAnswer((), text),)
    return (SeenAnswer((), "", NO_ANSWER),) if mode is Mode.LIVE else ()


def _text_and_fault(answer: AgentAnswer | None) -> tuple[str, str]:
    if answer is None:
        return "", NO_ANSWER
    if answer.state != "completed":
        return "", _FAULTS[answer.state]
    text = (answer.text or "").strip()
    return text, "" if text else "The answer is empty."


def grades(answers: Sequence[SeenAnswer], judged: Mapping[SeenAnswer, tuple[float, str]]) -> list[GradedAnswer]:
    """The grades of all answers that were judged or have a fault, sorted by participant."""
    found: list[GradedAnswer] = []
    for answer in answers:
        value, explanation = (0.0, answer.fault) if answer.fault else judged.get(answer, (None, ""))
        if value is not None:
            found += [GradedAnswer(agent=agent, value=value, explanation=explanation) for agent in answer.agents]
    return sorted(found, key=lambda each: each.agent)


def task_success(answers: Sequence[SeenAnswer], judged: Mapping[SeenAnswer, tuple[float, str]]) -> float | None:
    """The mean over all participants whose answers count. None if an answer was not judged, or nobody answers."""
    total, n = 0.0, 0
    for answer in answers:
        if not answer.fault and answer not in judged:
            return None
        n += len(answer.agents) or 1
        total += 0.0 if answer.fault else judged[answer][0] * (len(answer.agents) or 1)
    return total / n if n else None
