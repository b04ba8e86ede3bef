"""Finds the facts of which a wrong value is a slip: another by one character, or by two neighbours in turned order."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from concord.suite import Fact, Kind, Value
from concord_evaluator.information.recogniser import as_found


class Slips:
    """The values of facts, found by slips of them. Days are too close to each other to be slips."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = defaultdict[Value, set[str]](set)
        self._masked = defaultdict[Value, set[str]](set)
        self._found = dict[Value, frozenset[str]]()
        for fact in facts:
            value = as_found(fact.value)
            self._facts[value].add(fact.id)
            for masked in _masked(value):
                self._masked[masked].add(fact.id)

    def of(self, value: Value) -> frozenset[str]:
        """The ids of the facts whose values a slip turns into this one."""
        if value.kind is Kind.DATE:
            return frozenset()
        if value not in self._found:
            self._found[value] = self._near(value)
        return self._found[value]

    def _near(self, value: Value) -> frozenset[str]:
        near = [self._masked[masked] for masked in _masked(value) if masked in self._masked]
        turned = [self._facts[other] for other in _turned(value) if other in self._facts]
        return frozenset[str]().union(*near, *turned) - self._facts.get(value, set())


def _masked(value: Value) -> Iterator[Value]:
    """The value with each of its characters left open."""
    return (Value(value.kind, f"{value.text[:at]}\0{value.text[at + 1 :]}") for at in range(len(value.text)))


def _turned(value: Value) -> Iterator[Value]:
    """The value with each two neighbouring characters in turned order."""
    text = value.text
    return (Value(value.kind, text[:at] + text[at + 1] + text[at] + text[at + 2 :]) for at in range(len(text) - 1))
