"""Recognises the facts of a task in the text of a message."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from concord.suite import Fact, Kind, SuiteTask, Value
from concord_evaluator.information.values import Found, normalised, values_in

MAX_READ: Final = 100_000
"""Characters of a message that are read."""

_SENTENCE_END: Final = re.compile(r"[.;!?](?=\s|$)|\n+")
_WORDED: Final = frozenset({Kind.NAME, Kind.WORD})


@dataclass(frozen=True, slots=True)
class Stated:
    """What a text states of a task: facts, other values known in the task, facts with a wrong value, and values that
    the task does not know."""

    facts: frozenset[str]
    values: frozenset[Value]
    contradicted: frozenset[str]
    strange: tuple[Value, ...]


class Recogniser:
    """Recognises the facts of one task."""

    def __init__(self, task: SuiteTask) -> None:
        self._task = task
        self._plain: defaultdict[Value, list[str]] = defaultdict(list)
        self._anchored: defaultdict[Value, list[Fact]] = defaultdict(list)
        words = set[Value]()
        for fact in task.facts:
            if fact.anchor is None:
                self._plain[_key(fact.value)].append(fact.id)
            else:
                self._anchored[_key(fact.anchor)].append(fact)
            words |= {_key(each) for each in (fact.value, fact.anchor, *fact.domain) if each is not None}
        self._domain = {_key(each) for fact in task.facts for each in (*fact.domain, fact.value) if fact.anchor}
        self._words = words
        briefs = (
            found.value for text in (*task.briefs.values(), task.question) for found in values_in(normalised(text))
        )
        self._known = words | {value for value in briefs if value.kind is not Kind.WORD}

    def stated(self, text: str) -> Stated:
        """What a text states."""
        plain = normalised(text[:MAX_READ])
        found = [each for each in values_in(plain) if each.value.kind is not Kind.WORD or each.value in self._words]
        values = frozenset(each.value for each in found)
        facts = {fact_id for value in values for fact_id in self._plain.get(value, ())}
        contradicted = set[str]()
        for sentence in _sentences(plain, found):
            for fact, value in self._pairs(sentence):
                (facts if value == _key(fact.value) else contradicted).add(fact.id)
        strange = tuple(sorted(value for value in values if value not in self._known))
        return Stated(frozenset(facts), values, frozenset(contradicted - facts), strange)

    def _pairs(self, sentence: Sequence[Found]) -> Iterable[tuple[Fact, Value]]:
        """The anchored facts that a sentence speaks of, each with the value that stands with its anchor."""
        anchors = [each for each in sentence if each.value in self._anchored]
        values = [each for each in sentence if each.value in self._domain and each.value not in self._anchored]
        if not anchors or not values:
            return
        for place, anchor in enumerate(anchors):
            if len(anchors) == len(values):
                value = values[place]
            else:
                value = min(values, key=lambda each: abs(each.at - anchor.at))
            for fact in self._anchored[anchor.value]:
                yield fact, value.value


def _key(value: Value) -> Value:
    """A value as it is found in text: names are words there."""
    return Value(Kind.WORD, value.text.casefold()) if value.kind in _WORDED else value


def _sentences(text: str, found: Sequence[Found]) -> Iterable[list[Found]]:
    """The values in each sentence."""
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    for _, group in groupby(_numbered(ends, found), key=lambda each: each[0]):
        yield [each for _, each in group]


def _numbered(ends: Sequence[int], found: Sequence[Found]) -> Iterable[tuple[int, Found]]:
    place = 0
    for each in found:
        while place < len(ends) and ends[place] < each.at:
            place += 1
        yield place, each


def values_of(facts: Collection[Fact]) -> frozenset[Value]:
    """The values by which facts are recognised."""
    return frozenset(_key(fact.value) for fact in facts)
