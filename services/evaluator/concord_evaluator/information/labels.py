"""Finds the fact that a text names beside a value which the task does not know: "agent/2's reading is 51872"."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from concord.suite import Fact, Value
from concord_evaluator.information.values import Found

MAX_NAMED: Final = 200
"""Unknown values of a text of which the name is looked for, the first ones."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:[/-][^\W_]+)*")
_EMPTY: Final = frozenset({"of", "to", "on", "from", "and", "the"})
_BOUND: Final = re.compile(r"\b(?:than|at (?:most|least)|(?:up|down) to)[^.;!?\n]{0,20}\Z", re.IGNORECASE)
"""What may stand before a bound."""
_BEFORE: Final = 32
"""Characters before a value in which it is looked for."""
_OBJECT: Final = re.compile(r"\{[^{}]*\}")
_SENTENCE_END: Final = re.compile(r"[.;!?](?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Strange:
    """A value that is no fact's, where a text states it last, and the facts that are named beside it."""

    value: Value
    at: int
    about: frozenset[str]
    is_bound: bool = False
    """Whether a value is said to be above or below it."""


class Labels:
    """The names of a task's facts, such as "reading of agent/2"."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        tokens = {fact.id: _tokens(fact.id) - _tokens(fact.value.text) - _EMPTY for fact in facts}
        often = Counter(token for each in tokens.values() for token in each)
        self._names = {fact: _distinctive(each, often, len(facts)) for fact, each in tokens.items()}
        shared = Counter(self._names.values())
        self._by_token = defaultdict[str, list[str]](list)
        for fact, name in self._names.items():
            if name and shared[name] == 1:
                self._by_token[min(name, key=lambda token: (often[token], token))].append(fact)

    def named(self, text: str, strange: Iterable[Found]) -> tuple[Strange, ...]:
        """The values, each once and with the only fact that the sentence or the record around it names in full."""
        last = {each.value: each for each in sorted(strange, key=lambda each: each.at)}
        record_at = _records(text) if last else None
        found = []
        for number, (value, each) in enumerate(last.items()):
            record = record_at(each.at) if record_at and number < MAX_NAMED else ""
            found.append(Strange(value, each.at, self._named_in(record), bool(_BOUND.search(text[: each.at]))))
        return tuple(found)

    def _named_in(self, text: str) -> frozenset[str]:
        """The only fact that a text names in full; none if it names several."""
        tokens = _tokens(text)
        named = [fact for token in tokens for fact in self._by_token.get(token, ()) if self._names[fact] <= tokens]
        most = max((len(self._names[fact]) for fact in named), default=0)
        best = {fact for fact in named if len(self._names[fact]) == most}
        return frozenset(best if len(best) == 1 else ())


def _records(text: str) -> Callable[[int], str]:
    """Gives the flat JSON object around a place in a text; else its sentence or line."""
    objects = [match.span() for match in _OBJECT.finditer(text)]
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]

    def record(at: int) -> str:
        start, end = objects[max(0, bisect_right(objects, (at, len(text))) - 1)] if objects else (0, 0)
        if start <= at < end:
            return text[start:end]
        place = bisect_right(ends, at)
        return text[ends[place - 1] : ends[min(place, len(ends) - 1)]]

    return record


def _tokens(text: str) -> frozenset[str]:
    """The words and names of a text. A small number stands with the word before it: "part 2"."""
    found = [token.removesuffix("'s") for token in _TOKEN.findall(text.casefold())]
    return frozenset(
        f"{before} {token}" if token.isdigit() else token for before, token in zip(["", *found], found, strict=False)
    )


def _distinctive(tokens: frozenset[str], often: Counter[str], facts: int) -> frozenset[str]:
    """The tokens without those that most facts share, unless nothing is left."""
    return frozenset(token for token in tokens if 2 * often[token] <= facts) or tokens
