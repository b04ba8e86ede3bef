"""Faults that the observed calls show by themselves: agents that failed, said nothing, disagreed, or were not asked."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import timedelta
from itertools import combinations
from typing import Final

from concord.assessment.verdict import CauseKind
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.own_tasks.exchange import Exchange, Told, quote
from concord_evaluator.own_tasks.found import Found, Quoted, quoted
from concord_evaluator.own_tasks.observed_calls import ObservedCall
from concord_evaluator.own_tasks.values import TextValue, spelled, tokens_in

_LEFT: Final = "cancelled by the caller"
_UNANSWERED: Final = ("unanswered", "no answer", _LEFT)
_PATIENCE: Final = timedelta(seconds=5)
"""A caller that leaves sooner says nothing of its callee."""

_MAX_COMPARED: Final = 200
"""Sentences of a trial that are compared with each other."""

_ANCHOR: Final = re.compile(r"[A-Za-z]+[-_ ]?\d{2,}\w*|[A-Z]\w{3,}|\d{4,}")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|my|mine|me|our|ours|we|here|this)\b", re.IGNORECASE)
_VALUE: Final = re.compile(r"\d+(?:[.:,]\d+)*")


def failures(calls: Sequence[ObservedCall]) -> list[Found]:
    """The agents whose last call failed, each with the deepest failed call that it waited for."""
    found = dict[str, Found]()
    for call in _deepest(calls, lambda each: _failed(each) and not each.refused):
        error = call.error or "it failed"
        kind = CauseKind.NO_ANSWER if error.startswith(_UNANSWERED) else CauseKind.AGENT_FAILED
        found[call.callee] = Found(kind, (call.callee,), (Quoted(call.callee, call.step_id, quote(error, ())),))
    return list(found.values())


def empty_answers(calls: Sequence[ObservedCall]) -> list[Found]:
    """The agents whose last answer says nothing, each with the deepest empty answer that it waited for."""
    return [
        Found(CauseKind.EMPTY_ANSWER, (call.callee,), (Quoted(call.callee, call.step_id, ""),))
        for call in _deepest(calls, _empty)
    ]


def never_asked(calls: Sequence[ObservedCall], agents: Collection[str]) -> list[str]:
    """The agents that nobody was seen to ask, if the team was seen to ask others."""
    between = [call for call in calls if call.caller != GREEN_AGENT]
    asked = {call.callee for call in calls}
    return [agent for agent in agents if agent not in asked] if between else []


def not_asked(agents: Sequence[str]) -> Found:
    """The cause that agents were never asked."""
    return Found(CauseKind.NEVER_ASKED, tuple(agents))


def disagreements(exchange: Exchange, right: frozenset[TextValue]) -> list[Found]:
    """Pairs of agents that said the same sentence of something that has a name or a code, with different values.

    Of a pair of which one stated the right value, the other.
    """
    sentences = list(_sentences(exchange))[:_MAX_COMPARED]
    found = dict[tuple[str, ...], Found]()
    for (one, said), (other, contrary) in combinations(sentences, 2):
        pair = tuple(sorted((one.sender, other.sender)))
        if len(set(pair)) == 2 and pair not in found and _contradict(said, contrary):
            wrong = tuple(sorted({each.sender for each in (one, other) if not each.says(right)}))
            found[pair] = Found(CauseKind.DISAGREED, wrong or pair, (quoted(one, said), quoted(other, contrary)))
    return list(found.values())


def _deepest(calls: Sequence[ObservedCall], bad: Callable[[ObservedCall], bool]) -> Iterator[ObservedCall]:
    """The last calls of agents that gave nobody a good answer in the end, unless they waited for another such agent."""
    last = {(call.caller, call.callee): call for call in calls}
    well = {call.callee for call in last.values() if not _failed(call) and not _empty(call)}
    worst = {call.callee: call for call in last.values() if bad(call) and call.callee not in well}
    for call in worst.values():
        waited = any(
            other.caller == call.callee and call.began <= other.began <= call.ended
            for other in worst.values()
            if other is not call
        )
        if not waited:
            yield call


def _failed(call: ObservedCall) -> bool:
    if call.error is None:
        return False
    return not call.error.startswith(_LEFT) or call.ended - call.began >= _PATIENCE


def _empty(call: ObservedCall) -> bool:
    return call.error is None and call.response is not None and call.response.blank


def _sentences(exchange: Exchange) -> Iterator[tuple[Told, str]]:
    """The sentences in answers between agents that state one value of something with a name or a code."""
    for told in exchange.among_agents(len(exchange.told)):
        if not told.message.is_answer:
            continue
        for part in re.split(r"(?<=[.!?])\s+|\n+", told.message.said.text):
            if (
                10 <= len(part) <= 300
                and not _FIRST_PERSON.search(part)
                and _VALUE.search(part)
                and not _is_passed_on(exchange, told, part)
            ):
                yield told, part.strip()


def _is_passed_on(exchange: Exchange, told: Told, sentence: str) -> bool:
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
