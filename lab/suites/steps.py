"""Whether a family is harder at a higher stated difficulty, and for whom."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Final

from concord.suite import MAX_DIFFICULTY
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from lab.benchmarks.tables import ResultTable
from lab.suites.items import Item
from lab.suites.population import POPULATION
from lab.suites.response_model import ResponseModel
from tests.kit.players.minds import Mind

CLEAR: Final = 2.0
"""Standard errors from 0 that are no chance."""


def family_table(played: Mapping[Item, Sequence[float]], model: ResponseModel) -> ResultTable:
    """The mean difficulty of each family's items by stated difficulty, for whom it rises, and what briefs hold."""
    items, rows, found = list(played), list[list[str]](), [Counter[str](), Counter[str](), Counter[str]()]
    overlooking = ["overlooking" in team.rungs for team in POPULATION]
    for family in (each for each in FAMILIES if any(item.family == each.name for item in items)):
        of_family = [at for at, item in enumerate(items) if item.family == family.name]
        levels = [
            fmean(float(model.difficulties[at]) for at in of_family if items[at].difficulty == level)
            for level in range(1, MAX_DIFFICULTY + 1)
        ]
        own = [items[at] for at in of_family]
        steps = [
            rise(own, [float(model.difficulties[at]) for at in of_family]),
            *(rise(own, [100 * _lost(played[item], overlooking, kind) for item in own]) for kind in (True, False)),
        ]
        for counter, step in zip(found, steps, strict=True):
            counter[step.word] += 1
        shown = [f"{level:.2f}" for level in levels]
        rows.append([family.name, *shown, *map(str, steps), *_held(family, items)])
    counts = [", ".join(f"{each[word]} {word}" for word in ("rises", "flat", "falls") if each[word]) for each in found]
    return ResultTable(
        "Difficulty of the families",
        "The mean difficulty of the items of each stated difficulty, on the scale of the population's abilities. "
        "*Step*: the mean change from one stated difficulty to the next within a size and topology "
        f"({counts[0]}). *Lost, overlooking*: points that teams lose by a step if they overlook facts, among other "
        f"faults ({counts[1]}). *Lost, others*: points that the others lose ({counts[2]}). Each has its standard error "
        f"over the items; it rises or falls if it is more than {CLEAR:g} errors from 0. *Facts* and *sentences*: of a "
        "seat's brief, at difficulty 1 and at 5.",
        (
            *("family", *map(str, range(1, MAX_DIFFICULTY + 1))),
            *("step", "lost, overlooking", "lost, others", "facts", "sentences"),
        ),
        rows,
    )


def _lost(outcomes: Sequence[float], overlooking: Sequence[bool], kind: bool) -> float:
    """What teams of a kind lose of an item, 0 to 1."""
    return 1 - fmean(outcome for outcome, overlooks in zip(outcomes, overlooking, strict=True) if overlooks is kind)


def _held(family: TextFamily, items: Sequence[Item]) -> Iterator[str]:
    """The mean number of facts, and of sentences, that a brief has at the lowest and the highest difficulty."""
    minds = [
        [item.mind(1) for item in items if item.family == family.name and item.difficulty == level]
        for level in (1, MAX_DIFFICULTY)
    ]
    for count in (facts_in, sentences_in):
        yield " to ".join(f"{fmean(count(mind) / len(mind.task.seats) for mind in of_level):.1f}" for of_level in minds)


def facts_in(mind: Mind) -> int:
    """The facts that all briefs hold together."""
    return sum(len(fact.holders) for fact in mind.task.facts)


def sentences_in(mind: Mind) -> int:
    """The sentences of all briefs that say something about the task."""
    return sum(map(len, mind.setting.briefs.values()))


@dataclass(frozen=True, slots=True)
class Step:
    """A mean change from one stated difficulty to the next, with its standard error."""

    slope: float
    error: float

    @property
    def word(self) -> str:
        """Whether it is beyond chance."""
        return "rises" if self.slope > CLEAR * self.error else "falls" if self.slope < -CLEAR * self.error else "flat"

    def __str__(self) -> str:
        return f"{self.slope:.2f} ± {self.error:.2f} {self.word}"


def rise(items: Sequence[Item], values: Sequence[float]) -> Step:
    """The slope of items' values over stated difficulties by least squares.

    Each size with a topology has an intercept of its own, so that what large teams find harder is no error.
    """
    cells = [(item.seats, item.topology) for item in items]
    xs, ys = _within(cells, [item.difficulty for item in items]), _within(cells, values)
    apart = sum(x**2 for x in xs)
    slope = sum(x * y for x, y in zip(xs, ys, strict=True)) / apart
    left = sum((y - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    return Step(slope, sqrt(left / (len(xs) - len(set(cells)) - 1) / apart))


def _within(cells: Sequence[tuple[int, str]], values: Sequence[float]) -> list[float]:
    """The values less the means of their cells."""
    by_cell: dict[tuple[int, str], list[float]] = {}
    for cell, value in zip(cells, values, strict=True):
        by_cell.setdefault(cell, []).append(value)
    return [value - fmean(by_cell[cell]) for cell, value in zip(cells, values, strict=True)]
