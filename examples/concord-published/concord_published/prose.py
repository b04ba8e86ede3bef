"""What published tasks have in common: fixed texts, seats that each answer, and facts that are prose."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Bound, Draw, Fact, Grade, Group, Neighbours, Part, SuiteTask, Value

UNKNOWN: Final = Bound(0, False, "the facts are prose, so that no bound is proven")


class PublishedFamily(ABC):
    """A task as it is published. Implements `concord.suite.Family`: a secret only shuffles what its benchmark does."""

    benchmark: ClassVar[str]
    group: ClassVar[Group]
    name: str
    summary: str
    size: int

    @property
    def seats(self) -> range:
        """The number of seats is fixed."""
        return range(self.size, self.size + 1)

    @property
    @abstractmethod
    def chance(self) -> float:
        """What a team without messages reaches: a guess, which is no bound where the texts mislead."""

    @abstractmethod
    def question(self, seats: Sequence[str]) -> str:
        """The question to the team."""

    @abstractmethod
    def briefs(self, draw: Draw, seats: Sequence[str]) -> Mapping[str, str]:
        """What each seat knows."""

    @abstractmethod
    def key(self, neighbours: Neighbours) -> JsonValue:
        """What answers are compared with."""

    @abstractmethod
    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """Compares answers with a key, as the benchmark does."""

    def task(self) -> dict[str, Any]:
        """The task in a manifest."""
        return {"id": self.name, "name": self.name, "seats": self.size, "topology": "complete"}

    def parts(self, seats: Sequence[str]) -> Sequence[Part]:
        """By default, the answer of each seat is a part."""
        return [Part(seat, seat, ()) for seat in seats]

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        """The task for these seats."""
        if len(neighbours) != self.size:
            raise ValueError(f"{self.name} is for {self.size} seats, and {len(neighbours)} are given")
        seats = tuple(neighbours)
        return SuiteTask(
            family=self.name,
            difficulty=difficulty,
            neighbours=neighbours,
            question=self.question(seats),
            briefs=self.briefs(Draw(secret), seats),
            answerers=seats,
            key=self.key(neighbours),
            facts=(),
            parts=tuple(self.parts(seats)),
            fewest_messages=UNKNOWN,
            fewest_rounds=UNKNOWN,
            chance=self.chance,
        )

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """None: there are no facts."""
        del task, known
        return {}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """None: there are no facts."""
        del task, known, stated
        return frozenset()


def chosen(answer: JsonValue, options: Sequence[str]) -> str | None:
    """The only option that an answer names, as whole words in any case; None for none or several."""
    text = _words(str(answer) if isinstance(answer, str | int) and not isinstance(answer, bool) else "")
    named = [option for option in options if f" {_words(option).strip()} " in text]
    # An option within another that is named too is part of that one: North Hill, North Hill School.
    whole = [one for one in named if not any(one != other and _words(one).strip() in _words(other) for other in named)]
    return whole[0] if len(whole) == 1 else None


def _words(text: str) -> str:
    kept = "".join(each if each.isalnum() else " " for each in text[:2_000].casefold())
    return f" {' '.join(kept.split())} "
