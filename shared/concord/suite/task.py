"""Tasks that need a team: the knowledge of each seat, the question, and the key."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final, TypeAlias

from pydantic import JsonValue

from concord.suite.value import Value

MIN_MESSAGE: Final = 4_000
MAX_MESSAGE: Final = 50_000
"""Characters that a message may hold in the smallest and in the largest task."""

Neighbours: TypeAlias = Mapping[str, tuple[str, ...]]
"""The seats that each seat may send messages to, sorted. Symmetric and connected."""

Answers: TypeAlias = Mapping[str, JsonValue]
"""The last answer of each seat that gave one: JSON, or text where the seat wrote prose."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A piece of private information that an answer depends on.

    A text states the fact if it holds `value`, which is unique in its task. A fact with an `anchor` is stated where
    `value` stands beside `anchor` in a sentence; another value of `domain` beside the anchor contradicts the fact.
    """

    id: str
    holders: tuple[str, ...]
    """The seats whose briefs state the fact."""
    value: Value
    anchor: Value | None = None
    domain: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the answer that is right or wrong for itself."""

    id: str
    seat: str
    """The seat that has to give it."""
    needs: tuple[str, ...]
    """Ids of the facts that the part follows from."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The fewest messages or rounds that suffice, for whatever a team's members think by themselves.

    Where it is `exact`, some team attains it; otherwise it is a lower bound. `proof` gives the reason in a line.
    """

    value: int
    exact: bool
    proof: str


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """One instance of a family: everything about it, the key included."""

    family: str
    difficulty: int
    neighbours: Neighbours
    question: str
    """The same text for every seat. It says who must answer, and in which form."""
    briefs: Mapping[str, str]
    """The private text of each seat."""
    answerers: tuple[str, ...]
    key: JsonValue
    facts: tuple[Fact, ...]
    """Empty if they are prose that no rule can follow: then nobody claims what an answer rests on."""
    parts: tuple[Part, ...]
    fewest_messages: Bound
    """A message counts once for each of its receivers."""
    fewest_rounds: Bound
    chance: float
    """The expected outcome of the best team whose members send nothing, from 0 to 1."""

    @property
    def seats(self) -> tuple[str, ...]:
        """All seats, in their order."""
        return tuple(self.neighbours)

    @property
    def message_limit(self) -> int:
        """Characters that one message may hold: twice those of all briefs, from `MIN_MESSAGE` to `MAX_MESSAGE`.

        All facts fit in twice, but a list of all values that a fact could have does not.
        """
        return min(MAX_MESSAGE, max(MIN_MESSAGE, 2 * sum(map(len, self.briefs.values()))))


@dataclass(frozen=True, slots=True)
class Grade:
    """The value of each part of the answers, from 0 to 1, and the seats whose answers are unreadable."""

    parts: Mapping[str, float]
    unreadable: tuple[str, ...] = ()

    @property
    def outcome(self) -> float:
        """The mean of the parts, from 0 to 1. `sum` of floats differs between versions of Python."""
        return fsum(self.parts.values()) / len(self.parts)
