"""Tasks that need a team, and the families that generate them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from math import fsum
from typing import Final, Protocol, TypeAlias

from pydantic import JsonValue

from concord.entry_points import entry_points
from concord.suite.value import Value

# Tasks that need a team: the knowledge of each seat, the question, and the key.

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
    """The value of each part of the answers, from 0 to 1, and what is unreadable: the seats whose answers are, or parts
    of answers that are otherwise read."""

    parts: Mapping[str, float]
    unreadable: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()
    """What a team did that it must not do, a sentence each. Then no part has a value, whoever could have known what."""

    @property
    def outcome(self) -> float:
        """The mean of the parts, from 0 to 1. `sum` of floats differs between versions of Python."""
        return fsum(self.parts.values()) / len(self.parts)


# The interface of families of tasks, and the discovery of packages that contain families.

ENTRY_POINT_GROUP: Final = "concord.suites"
"""A package adds a suite by an entry point in this group: `name = "module:SUITE"`, a `Suite`."""

ENVIRONMENT_ENTRY_POINT_GROUP: Final = "concord.environment_suites"
"""The group of suites whose tasks are played in an environment."""

MAX_DIFFICULTY: Final = 5


class Group(StrEnum):
    """The kind of cooperation that a family needs."""

    POOL = "pool"
    PIPELINE = "pipeline"
    ALL_TO_ALL = "all-to-all"
    AGREE = "agree"
    JUDGE = "judge-together"


class Family(Protocol):
    """Tasks of one kind. Every method is a pure function of its arguments."""

    @property
    def name(self) -> str:
        """The family's id, unique in its suite."""

    @property
    def group(self) -> Group:
        """The kind of cooperation that the family needs."""

    @property
    def seats(self) -> range:
        """The supported numbers of seats."""

    @property
    def summary(self) -> str:
        """The task in a line, for a list of families."""

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        """The task of that secret for these seats. `difficulty` is 1 to `MAX_DIFFICULTY`.

        The same arguments give the same task, byte for byte. Raises ValueError for a number of seats outside `seats`.
        """

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """Compares the seats' last answers with a task's key. Never raises for an answer."""

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """Values that can stand for known facts in a message, such as the sum of the numbers so far. Maps each value to
        the ids of the facts that it stands for."""

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """The ids of known facts that follow from these values, stated together: busy days from all free ones.

        Names are words among the values, in lower case.
        """


@dataclass(frozen=True, slots=True)
class Suite:
    """The families and manifests (JSON documents) of one package, by name."""

    families: Mapping[str, Family]
    manifests: Mapping[str, str] = field(default_factory=dict)


@cache
def installed_suites() -> tuple[Suite, ...]:
    """The suites of all installed packages, sorted by the names of their entry points."""
    return tuple(each.load() for each in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name))


def installed_families() -> Iterator[Family]:
    """The families of all installed suites."""
    return (family for suite in installed_suites() for family in suite.families.values())


@cache
def environment_families() -> Mapping[str, Family]:
    """The families whose seats are assistants of people in an environment, by name.

    They are no suite that a config can name: a config names them as scenarios.
    """
    found = entry_points(group=ENVIRONMENT_ENTRY_POINT_GROUP)
    return {name: family for each in found for name, family in each.load().families.items()}


def installed_manifests() -> dict[str, str]:
    """The manifests of all installed suites (JSON), by name."""
    return {name: text for suite in installed_suites() for name, text in suite.manifests.items()}
