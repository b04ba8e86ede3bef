"""Finds the causes of wrong answers to the user's own tasks, from the calls that the gateway observed."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import combinations
from typing import Final

from msgspec import structs

from concord.assessment import AssessmentPlan, Mode, TaskSpec
from concord.assessment.results import AgentAnswer, Grading, TrialOutcome
from concord.assessment.verdict import MAX_CAUSES, Cause, CauseKind, Evidence
from concord.trace.report import ReportBatch
from concord.trace.vocabulary import words_in
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.messages import Sent
from concord_evaluator.own_tasks.exchange import ObservedExchange, Told, observed_calls, quote
from concord_evaluator.own_tasks.reference import (
    DERIVABLE,
    Reference,
    TextValue,
    Token,
    ValueKind,
    is_distinctive,
    may_be_derived,
    references,
    spelled,
    tokens_in,
)


def observed(kind: CauseKind, agents: Iterable[str], *said: Evidence) -> Cause:
    """A cause: what happened, at which agents, and what shows it. Its points are of a trial that lost all 100."""
    return Cause(
        kind=kind,
        agents=tuple(agents),
        certainty="observed",
        points=100.0,
        steps=tuple(dict.fromkeys(each.step_id for each in said if each.step_id)),
        evidence=tuple(each for each in said if each.text),
    )


def quoted(told: Told, *around: str) -> Evidence:
    """The sentence of a message in which a value stands."""
    said = told.message
    return _said(told.sender, said.step_id, quote(said.text or said.words, around))


def _said(agent: str, step_id: str, text: str) -> Evidence:
    """What an agent said, or how its call ended. Without a text, only the step shows it."""
    return Evidence(text=text, agent=agent, step_id=step_id or None)


# Faults that the observed calls show by themselves: agents that failed, said nothing, disagreed, or were not asked.

_LEFT: Final = "cancelled by the caller"
_UNANSWERED: Final = ("unanswered", "no answer", _LEFT)
_PATIENCE: Final = timedelta(seconds=5)
"""A caller that leaves sooner says nothing of its callee."""

_MAX_COMPARED: Final = 200
"""Sentences of a trial that are compared with each other."""

_ANCHOR: Final = re.compile(r"[A-Za-z]+[-_ ]?\d{2,}\w*|[A-Z]\w{3,}|\d{4,}")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|my|mine|me|our|ours|we|here|this)\b", re.IGNORECASE)
_VALUE: Final = re.compile(r"\d+(?:[.:,]\d+)*")


def failures(calls: Sequence[Sent]) -> list[Cause]:
    """The agents whose last call failed, each with the deepest failed call that it waited for."""
    found = dict[str, Cause]()
    for call in _deepest(calls, lambda each: _failed(each) and not each.is_refused):
        error = call.error or "it failed"
        kind = CauseKind.NO_ANSWER if error.startswith(_UNANSWERED) else CauseKind.AGENT_FAILED
        found[call.receiver] = observed(kind, [call.receiver], _said(call.receiver, call.step_id, quote(error, ())))
    return list(found.values())


def empty_answers(calls: Sequence[Sent]) -> list[Cause]:
    """The agents whose last answer says nothing, each with the deepest empty answer that it waited for."""
    return [
        observed(CauseKind.EMPTY_ANSWER, [call.receiver], _said(call.receiver, call.step_id, ""))
        for call in _deepest(calls, _empty)
    ]


def never_asked(calls: Sequence[Sent], agents: Collection[str]) -> list[str]:
    """The agents that nobody was seen to ask, if the team was seen to ask others."""
    between = [call for call in calls if call.sender != GREEN_AGENT]
    asked = {call.receiver for call in calls}
    return [agent for agent in agents if agent not in asked] if between else []


def disagreements(exchange: ObservedExchange, right: frozenset[TextValue]) -> list[Cause]:
    """Pairs of agents that said the same sentence of something that has a name or a code, with different values.

    Of a pair of which one stated the right value, the other.
    """
    sentences = list(_sentences(exchange))[:_MAX_COMPARED]
    found = dict[tuple[str, ...], Cause]()
    for (one, said), (other, contrary) in combinations(sentences, 2):
        pair = tuple(sorted((one.sender, other.sender)))
        if len(set(pair)) == 2 and pair not in found and _contradict(said, contrary):
            wrong = tuple(sorted({each.sender for each in (one, other) if not each.says(right)}))
            found[pair] = observed(CauseKind.DISAGREED, wrong or pair, quoted(one, said), quoted(other, contrary))
    return list(found.values())


def _deepest(calls: Sequence[Sent], bad: Callable[[Sent], bool]) -> Iterator[Sent]:
    """The last calls of agents that gave nobody a good answer in the end, unless they waited for another such agent."""
    last = {(call.sender, call.receiver): call for call in calls}
    well = {call.receiver for call in last.values() if not _failed(call) and not _empty(call)}
    worst = {call.receiver: call for call in last.values() if bad(call) and call.receiver not in well}
    for call in worst.values():
        waited = any(
            other.sender == call.receiver and call.at <= other.at <= call.ended
            for other in worst.values()
            if other is not call
        )
        if not waited:
            yield call


def _failed(call: Sent) -> bool:
    if call.error is None:
        return False
    return not call.error.startswith(_LEFT) or call.ended - call.at >= _PATIENCE


def _empty(call: Sent) -> bool:
    return call.error is None and call.answer is not None and not f"{call.answer.text}{call.answer.words}".strip()


def _sentences(exchange: ObservedExchange) -> Iterator[tuple[Told, str]]:
    """The sentences in answers between agents that state one value of something with a name or a code."""
    for told in exchange.among_agents(len(exchange.told)):
        if not told.message.is_answer:
            continue
        for part in re.split(r"(?<=[.!?])\s+|\n+", told.message.text):
            if (
                10 <= len(part) <= 300
                and not _FIRST_PERSON.search(part)
                and _VALUE.search(part)
                and not _is_passed_on(exchange, told, part)
            ):
                yield told, part.strip()


def _is_passed_on(exchange: ObservedExchange, told: Told, sentence: str) -> bool:
    """Whether the sender was told a value of its sentence before."""
    values = [token.readings for token in tokens_in(spelled(sentence))]
    return any(each.values & value for each in exchange.told_to(told.sender, told.place) for value in values)


def _contradict(one: str, other: str) -> bool:
    """Whether two sentences differ in one value, and share a name, a code or a long number."""
    first, second = one.split(), other.split()
    if len(first) != len(second):
        return False
    differing = [(a, b) for a, b in zip(first, second, strict=True) if a.casefold() != b.casefold()]
    if len(differing) != 1 or _alike(*differing[0]):
        return False
    shared = " ".join(a for a, b in zip(first, second, strict=True) if a.casefold() == b.casefold())
    return bool(_ANCHOR.search(shared.partition(" ")[2]))


def _alike(one: str, other: str) -> bool:
    """Whether two words do not state different values of one kind."""
    first, second = ([token.readings for token in tokens_in(spelled(word))] for word in (one, other))
    kinds = [{value.kind for readings in found for value in readings} for found in (first, second)]
    return not kinds[0] & kinds[1] or any(a & b for a in first for b in second)


# Follows the right and the wrong value of an answer through the observed messages.
#
# A wrong value is followed to who said it first, a right one to who was told it and did not pass it on. Nobody is
# named where the value may be derived from others, where it may be a choice among several, or where a message that
# lacks the right value may state it in words that are not recognised.

Readings = frozenset[TextValue]

_FILLERS: Final = frozenset(words_in("answer ask check find help know look please question reply tell user want"))
"""Words in which requests may differ that ask the same."""

_OWN: Final = re.compile(
    r"\b(?:my|mine|our|ours|here|"
    r"(?:i|we)(?:'ve| have| had| see| saw| count(?:ed)?| got| hold| keep| own| sell| offer| can))\b"
)


@dataclass(frozen=True, slots=True)
class _Case:
    """One wrong value of one final answer."""

    exchange: ObservedExchange
    final: Told
    reference: Reference
    right: Readings
    """The right value, if it can be followed; else empty."""
    wrong: tuple[Token, ...]
    """The distinctive values that the answer has instead."""
    complete: bool
    """Whether every other agent was asked and answered, so that the answer was not a guess in the place of theirs."""

    @property
    def answerer(self) -> str:
        return self.final.sender

    def said_right(self, before: int) -> list[Told]:
        """The messages between agents that state the right value."""
        return [each for each in self.exchange.among_agents(before) if self.right and each.says(self.right)]

    def knew(self, agent: str, before: int) -> Told | None:
        """The first message by which an agent knew the right value: it was told it, or said it."""
        return next((each for each in self.said_right(before) if agent in (each.sender, each.receiver)), None)


def follow(exchange: ObservedExchange, answerer: str, reference: Reference, *, complete: bool) -> Cause | None:
    """Who gave or lost the value of a wrong answer. None where that cannot be shown."""
    final = exchange.final(answerer)
    if final is None or final.says(reference.right):
        return None
    right = _followable(exchange, reference.right)
    case = _Case(exchange, final, reference, right, _wrong(exchange, final, reference), complete)
    origin = _origin(case)
    told = [each for each in exchange.told_to(answerer, final.place) if right and each.says(right)]
    if told and not case.wrong:
        return _lost_at_the_end(case, told)
    if told:
        return None if origin is None else _told_both(case, told, origin)
    if origin is not None and (found := _of_origin(case, origin)) is not None:
        return found
    return _lost_on_the_way(case)


def _followable(exchange: ObservedExchange, value: Readings) -> Readings:
    """A value that can be followed: every reading is distinctive, and the task does not state it."""
    return value if value and all(map(is_distinctive, value)) and not exchange.in_prompt(value) else frozenset()


def _wrong(exchange: ObservedExchange, final: Told, reference: Reference) -> tuple[Token, ...]:
    return tuple(
        token
        for token in reference.stated
        if not _is_part(token, reference.right | reference.explained)
        and _followable(exchange, token.readings)
        and (_is_kind(token, reference) and (not _is_name(token) or exchange.is_name(token.text)))
        and final.says(token.readings)
    )


def _is_part(token: Token, values: Readings) -> bool:
    """Whether a token is one of some values, or a word of a name among them."""
    words = {word for value in values if value.kind is ValueKind.NAME for word in value.text.split()}
    return bool(token.readings & values) or any(value.text in words for value in token.readings if _is_name(token))


def _is_kind(token: Token, reference: Reference) -> bool:
    return any(value.kind in reference.kinds for value in token.readings)


def _is_name(token: Token) -> bool:
    return any(value.kind is ValueKind.NAME for value in token.readings)


def _origin(case: _Case) -> Told | None:
    """The message that said the wrong value first. None if there are several that different agents said first."""
    firsts = [
        next(each for each in (*case.exchange.among_agents(case.final.place), case.final) if each.says(token.readings))
        for token in case.wrong
    ]
    return firsts[0] if firsts and len({first.sender for first in firsts}) == 1 else None


def _told_both(case: _Case, told: Sequence[Told], origin: Told) -> Cause | None:
    """Where the answerer was told the right value, and gave the wrong one."""
    if origin.sender == case.answerer:
        return _lost(case, case.answerer, told[-1], origin)
    if case.right and origin.says(case.right):
        return None  # both in one message: a choice, or a hedge
    if (known := case.knew(origin.sender, origin.place)) is not None:
        return _lost(case, origin.sender, known, origin)
    same = [each for each in told if _answer_the_same(each, origin, case)]
    return _wrong_value(case, origin, same[0]) if same else None


def _answer_the_same(one: Told, other: Told, case: _Case) -> bool:
    """Whether two messages answer the same question, and have no figures by which to choose among them."""
    if not (one.message.is_answer and other.message.is_answer) or _of_oneself(one) or _of_oneself(other):
        return False
    first, second = (frozenset(words_in(case.exchange.asked[each.message.step_id])) - _FILLERS for each in (one, other))
    chosen = _figures_beside(one, case.right, case) and _figures_beside(other, _all(case.wrong), case)
    return first == second != frozenset() and not chosen


def _lost_at_the_end(case: _Case, told: Sequence[Told]) -> Cause | None:
    """Where the answerer was told the right value, and gave no wrong one that others had said."""
    other = any(_is_kind(token, case.reference) for token in case.reference.stated)
    figures = case.final.figures - case.exchange.prompt_figures
    vague = bool(case.reference.kinds & DERIVABLE) and bool(figures) and not other
    if vague or case.final.says(case.right) or case.final.hints_at(case.right):
        return None
    return _lost(case, case.answerer, told[-1], case.final)


def _of_origin(case: _Case, origin: Told) -> Cause | None:
    """Where the answerer was not told the right value, and gave a wrong one."""
    if origin.says(case.right):
        return None
    if (known := case.knew(origin.sender, origin.place)) is not None:
        return _lost(case, origin.sender, known, origin)
    if case.said_right(case.final.place):
        return None  # somebody knew better, and it did not arrive: see where it was lost
    if origin.sender == case.answerer:
        return _wrong_value(case, origin) if case.complete and _made_up(case, origin) else None
    if _derived(case, origin) or not _told_nothing_else(case):
        return None
    if not case.complete and (_of_oneself(origin) or _figures_beside(origin, _all(case.wrong), case)):
        return None  # perhaps the best of too few values
    return _wrong_value(case, origin)


def _made_up(case: _Case, origin: Told) -> bool:
    """Whether the answerer has the value from nobody, and cannot have computed it: a code, or a name in its place."""
    kinds = {value.kind for token in case.wrong for value in token.readings}
    told = case.exchange.told_to(case.answerer, origin.place)
    parts = frozenset[str]().union(*(each.figures for each in told))
    stated = "".join(token.text for token in case.wrong)
    if kinds & DERIVABLE or any(part in stated for part in parts if len(part) > 1):
        return False
    return bool(told) and (ValueKind.NAME not in kinds or case.reference.alone)


def _derived(case: _Case, origin: Told) -> bool:
    """Whether the agent may have made the value from what others told it."""
    told = case.exchange.told_to(origin.sender, origin.place)
    return any(_others(case, each, frozenset()) or not _alone(each, frozenset(), case) for each in told)


def _told_nothing_else(case: _Case) -> bool:
    """Whether the answerer was told no other value from which the right one may follow."""
    wrong = _all(case.wrong)
    told = case.exchange.told_to(case.answerer, case.final.place)
    return all(not _others(case, each, wrong) and _alone(each, wrong, case) for each in told)


def _others(case: _Case, told: Told, but: Readings) -> bool:
    """Whether a message states other values of the kind, which are not in the task."""
    skipped = but | case.reference.explained | case.exchange.prompt_values
    kinds = case.reference.kinds
    return any(
        value.kind in kinds and value not in skipped and (value.kind is not ValueKind.NAME or _is_new_name(case, value))
        for value in told.values
    )


def _is_new_name(case: _Case, value: TextValue) -> bool:
    return case.exchange.is_name(value.text) and not case.exchange.in_prompt(frozenset({value}))


def _alone(told: Told, value: Readings, case: _Case) -> bool:
    """Whether a message states nothing beside a value, other right values and the task, that one could compute with."""
    if not case.reference.kinds & DERIVABLE:
        return True
    known = frozenset(figure for each in value | case.reference.explained for figure in _digits(each))
    other = frozenset(
        figure for figure in told.figures - case.exchange.prompt_figures if figure.lstrip("0") not in known
    )
    return not may_be_derived(case.reference.kinds, told.spelled, other)


def _figures_beside(told: Told, value: Readings, case: _Case) -> bool:
    known = frozenset(figure for each in value for figure in _digits(each))
    return any(figure.lstrip("0") not in known for figure in told.figures - case.exchange.prompt_figures)


def _digits(value: TextValue) -> set[str]:
    """The runs of digits in which a value may be written."""
    parts = "".join(char if char.isdigit() else " " for char in value.text).split()
    whole = "".join(parts)
    groups = range(len(whole), 0, -3) if value.kind is ValueKind.NUMBER else ()
    thousands = {whole[max(0, end - 3) : end] for end in groups}
    twelve = {str((int(part) + 11) % 12 + 1) for part in parts[:1] if value.kind is ValueKind.TIME}
    return {part.lstrip("0") for part in (*parts, whole, *thousands, *twelve)}


def _all(tokens: Sequence[Token]) -> Readings:
    return frozenset[TextValue]().union(*(token.readings for token in tokens))


def _of_oneself(told: Told) -> bool:
    """Whether an agent speaks of what is its own, so that others may have other values for the same question."""
    return _OWN.search(told.plain) is not None


def _lost_on_the_way(case: _Case) -> Cause | None:
    """Where somebody knew the right value, and the answerer was not told it."""
    found = dict[str, tuple[Told, Told]]()
    for known in case.said_right(case.final.place):
        agent = known.receiver
        if agent == case.answerer or agent in found or agent == GREEN_AGENT:
            continue
        later = [
            each
            for each in case.exchange.among_agents(case.final.place)
            if each.sender == agent and each.message.is_answer and each.place > known.place
        ]
        askers = {each.receiver for each in later}
        if later and not any(case.knew(asker, case.final.place) for asker in askers):
            if any(_may_state(case, each) for each in later):
                return None
            found[agent] = (known, later[-1])
    if len(found) != 1:
        return None
    [(agent, (known, silent))] = found.items()
    said = tuple(token for token in case.wrong if silent.says(token.readings))
    origin = _origin(replace(case, wrong=said))
    if said and (origin is None or origin.sender != agent):
        return (
            None if origin is None or not _answer_the_same(known, origin, case) else _wrong_value(case, origin, known)
        )
    return _lost(case, agent, known, silent)


def _may_state(case: _Case, told: Told) -> bool:
    """Whether a message states the right value, or perhaps in a way that is not recognised."""
    if told.hints_at(case.right):
        return True
    if not case.reference.kinds & DERIVABLE:
        return False
    return bool(told.figures - case.exchange.prompt_figures)


def _wrong_value(case: _Case, origin: Told, right: Told | None = None) -> Cause:
    wrong = quoted(origin, *(token.text for token in case.wrong))
    beside = [] if right is None else [quoted(right, *_texts(case.right))]
    return observed(CauseKind.WRONG_VALUE, [origin.sender], wrong, *beside)


def _lost(case: _Case, agent: str, known: Told, instead: Told) -> Cause:
    """`known`: how the agent knew the right value. `instead`: what it said without it."""
    right, said = quoted(known, *_texts(case.right)), quoted(instead, *(token.text for token in case.wrong))
    return observed(CauseKind.LOST_VALUE, [agent], right, said)


def _texts(value: Readings) -> list[str]:
    return [each.text for each in sorted(value)]


_WITHOUT: Final = {
    "failed": CauseKind.AGENT_FAILED,
    "timeout": CauseKind.NO_ANSWER,
    "completed": CauseKind.EMPTY_ANSWER,
}
"""What an agent without an answer did, by the state of its task."""


def causes_of_trial(
    plan: AssessmentPlan, outcome: TrialOutcome, batches: Iterable[ReportBatch], grading: Grading | None
) -> list[Cause]:
    """Who made the answers to an own task wrong, as far as it was observed. Empty where no cause could be shown.

    `batches`: of the trace, of which only the gateway's own are read. `grading`: by the task's scorer; without one, all
    answers may be wrong. The points are of a trial that lost all 100. Raises KeyError for a trial that is not in the
    plan.
    """
    task = plan.task(plan.trial(outcome.trial_id).task_id)
    own = task.family is None and task.scenario is None and task.control is None
    if plan.mode is not Mode.LIVE or not own:
        return []
    given = {answer.agent: answer for answer in outcome.answers}
    right = {each.agent for each in grading.answers if each.value == 1} if grading is not None else set()
    wrong = [given[agent] for agent in plan.answerers(task.id) if agent in given and agent not in right]
    if not wrong:
        return []
    roster = Roster(plan.agents(task.id))
    calls = [_whole(call, given) for call in observed_calls(batches, roster)]
    team = [entry.id for entry in roster if entry.id not in plan.missing]
    return _found(task, wrong, calls, team)[:MAX_CAUSES]


def _found(task: TaskSpec, wrong: Sequence[AgentAnswer], calls: Sequence[Sent], team: Sequence[str]) -> list[Cause]:
    exchange = _exchange(calls, task.text)
    faults, unasked = [*failures(calls), *empty_answers(calls)], never_asked(calls, team)
    answers = {each.agent: each.text or "" for each in wrong if each.state == "completed" and (each.text or "").strip()}
    missing = {agent: references(task, text) for agent, text in answers.items()}
    if followed := list(_followed(exchange, missing, len(wrong), complete=not faults and not unasked)):
        return followed
    if faults:
        return _shared(faults)
    if len(answers) < len(wrong):
        return _shared([_of_recipient(each, calls) for each in wrong if each.agent not in answers])
    right = frozenset(value for each in missing.values() for reference in each for value in reference.right)
    if disagreed := disagreements(exchange, right):
        return _shared(disagreed)
    return [observed(CauseKind.NEVER_ASKED, unasked)] if _explains(unasked, exchange, missing) else []


def _exchange(calls: Sequence[Sent], prompt: str) -> ObservedExchange:
    """The messages of a trial; none where they are too long to be read."""
    try:
        return ObservedExchange(calls, prompt)
    except ValueError:
        return ObservedExchange([], prompt)


def _followed(
    exchange: ObservedExchange, missing: Mapping[str, Sequence[Reference]], answers: int, *, complete: bool
) -> Iterator[Cause]:
    """Who gave or lost the values of wrong answers. Each value stands for an equal share of its answer."""
    for agent, wanted in missing.items():
        for reference in wanted:
            found = follow(exchange, agent, reference, complete=complete)
            if found is not None:
                yield _with_share(found, 1 / len(wanted) / answers)


def _shared(found: Sequence[Cause]) -> list[Cause]:
    """The causes with equal shares: nothing tells which of them cost more."""
    return [_with_share(each, 1 / len(found)) for each in found]


def _with_share(found: Cause, share: float) -> Cause:
    return found.model_copy(update={"points": 100 * share})


def _explains(unasked: Sequence[str], exchange: ObservedExchange, missing: Mapping[str, Sequence[Reference]]) -> bool:
    """Whether agents that nobody asked explain a wrong answer: the only one left out, or no message has the value."""
    wanted = [reference.right for each in missing.values() for reference in each]
    if not unasked or not wanted:
        return len(unasked) == 1
    messages = exchange.among_agents(len(exchange.told))
    return not any(each.says(value) for each in messages for value in wanted)


def _of_recipient(answer: AgentAnswer, calls: Sequence[Sent]) -> Cause:
    """The failure of an agent that was given the task."""
    step_id = next((call.step_id for call in calls if call.sender == GREEN_AGENT and call.receiver == answer.agent), "")
    said = _said(answer.agent, step_id, quote(answer.error or "", ()))
    return observed(_WITHOUT[answer.state], [answer.agent], said)


def _whole(call: Sent, given: Mapping[str, AgentAnswer]) -> Sent:
    """The call of a recipient with the whole of its answer, of which the step quotes the beginning."""
    answer = given.get(call.receiver)
    if call.sender != GREEN_AGENT or answer is None or answer.text is None or call.answer is None:
        return call
    return structs.replace(call, answer=structs.replace(call.answer, text=answer.text, words=""))
