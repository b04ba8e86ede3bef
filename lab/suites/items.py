"""Items: a family at a size, on a topology, at a difficulty; and what the population reaches in them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Final

from rich.console import Console

from concord.suite import MAX_DIFFICULTY, Draw, Group, Topology, instance_secret, neighbours_in
from concord_suites import FAMILIES
from lab.suites.population import POPULATION
from tests.kit.players.minds import Mind

CELLS: Final = (
    (3, Topology.COMPLETE),
    (3, Topology.CHAIN),
    (5, Topology.COMPLETE),
    (5, Topology.STAR),
    (5, Topology.CHAIN),
    (8, Topology.COMPLETE),
)
"""Sizes and topologies. A star of three seats is a chain. A large team takes long, so it has one topology."""

_BY_NAME: Final = {family.name: family for family in FAMILIES}
_SECRET: Final = b"difficulty of items" + bytes(13)


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """A kind of task, of which every secret gives another."""

    family: str
    seats: int
    topology: str
    difficulty: int

    @property
    def group(self) -> Group:
        """The group of its family."""
        return _BY_NAME[self.family].group

    def mind(self, number: int) -> Mind:
        """One of its tasks, always the same for a number."""
        secret = instance_secret(_SECRET, self.family, f"{self.seats} {self.topology} {self.difficulty}", number)
        names = [f"agent/{place}" for place in range(1, self.seats + 1)]
        neighbours = neighbours_in(Topology(self.topology), names, Draw(secret + b"topology"))
        family = _BY_NAME[self.family]
        return Mind(family, family.generate(secret, neighbours, self.difficulty))

    def outcomes(self, number: int) -> list[float]:
        """The outcome of each team of the population in one of its tasks."""
        mind = self.mind(number)
        return [team.outcome(mind) for team in POPULATION]


def all_items(families: Iterable[str]) -> Iterator[Item]:
    """Each size, topology and difficulty of these families."""
    cells = product(families, CELLS, range(1, MAX_DIFFICULTY + 1))
    return (Item(family, seats, topology.value, difficulty) for family, (seats, topology), difficulty in cells)


def play_all(families: Sequence[str], tasks: int, processes: int, file: Path) -> None:
    """Has the population play so many tasks of each item, and adds a line for each that the file does not have yet.

    All families play their first task before any plays its second, so that what is there after an interruption is even.
    """
    progress, done = Console(stderr=True), _lines(file)
    wanted = [(name, number) for number in range(1, tasks + 1) for name in families]
    missing = [(name, number) for name, number in wanted if any((i, number) not in done for i in all_items([name]))]
    file.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        jobs = {pool.submit(_played, name, number): (name, number) for name, number in missing}
        for done_jobs, job in enumerate(as_completed(jobs), start=1):
            name, number = jobs[job]
            with file.open("a", encoding="utf-8") as kept:
                kept.writelines(json.dumps([asdict(item), number, outcomes]) + "\n" for item, outcomes in job.result())
            progress.print(f"{done_jobs} of {len(missing)}: task {number} of each item of {name}")


def read_outcomes(file: Path) -> dict[Item, list[float]]:
    """The mean outcome of each team in the tasks of each item that the file has."""
    played: dict[Item, list[list[float]]] = {}
    for (item, _), outcomes in _lines(file).items():
        played.setdefault(item, []).append(outcomes)
    return {
        item: [fmean(of_team) for of_team in zip(*played[item], strict=True)]
        for item in all_items(_BY_NAME)
        if item in played
    }


def _lines(file: Path) -> dict[tuple[Item, int], list[float]]:
    """What the population reached, by item and number of the task."""
    if not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {(Item(**item), number): outcomes for item, number, outcomes in lines if len(outcomes) == len(POPULATION)}


def _played(family: str, number: int) -> list[tuple[Item, list[float]]]:
    return [(item, item.outcomes(number)) for item in all_items([family])]
