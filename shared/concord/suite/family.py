"""The interface of families of tasks, and the discovery of packages that contain families."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from typing import Final, Protocol

from pydantic import JsonValue

from concord.suite.task import Answers, Fact, Grade, Neighbours, SuiteTask
from concord.suite.value import Value

ENTRY_POINT_GROUP: Final = "concord.suites"
"""A package adds a suite by an entry point in this group: `name = "module:SUITE"`, a `Suite`."""

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


def installed_manifests() -> dict[str, str]:
    """The manifests of all installed suites (JSON), by name."""
    return {name: text for suite in installed_suites() for name, text in suite.manifests.items()}
