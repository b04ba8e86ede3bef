"""Items: a family at a size, on a topology, at a difficulty; and what the population reaches in them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Final

from rich.console import Console

from concord.suite import MAX_DIFFICULTY, Draw, Group, Topology, instance_secret, neighbours_in
from concord_suites import FAMILIES
from tests.suites_gate.minds import Mind
from tests.suites_gate.population import POPULATION

CELLS: Final = (
    *((seats, topology) for seats in (3, 5) for topology in (Topology.COMPLETE, Topology.STAR, Topology.CHAIN)),
    (8, Topology.COMPLETE),
)
"""Sizes and topologies. A large team takes the population long, so it has one topology."""

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

    def outcomes(self, tasks: int) -> list[float]:
        """The mean outcome of each team of the population over so many of its tasks."""
        minds = [self.mind(number) for number in range(1, tasks + 1)]
        return [sum(team.outcome(mind) for mind in minds) / tasks for team in POPULATION]


def all_items(families: Iterable[str]) -> Iterator[Item]:
    """Each size, topology and difficulty of these families."""
    cells = product(families, CELLS, range(1, MAX_DIFFICULTY + 1))
    return (Item(family, seats, topology.value, difficulty) for family, (seats, topology), difficulty in cells)


def play_all(families: Sequence[str], tasks: int, processes: int, file: Path) -> None:
    """Has the population play all items that the file does not have yet, and adds a line for each family."""
    progress, done = Console(stderr=True), read_outcomes(file)
    missing = [name for name in families if not set(all_items([name])) <= done.keys()]
    file.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        jobs = {pool.submit(_played, name, tasks): name for name in missing}
        for number, job in enumerate(as_completed(jobs), start=1):
            with file.open("a", encoding="utf-8") as kept:
                kept.writelines(json.dumps([asdict(item), outcomes]) + "\n" for item, outcomes in job.result())
            progress.print(f"{number} of {len(missing)}: {jobs[job]}")


def read_outcomes(file: Path) -> dict[Item, list[float]]:
    """The outcomes of the population in each item that the file has, and that is still one of all items."""
    if not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    played = {Item(**item): outcomes for item, outcomes in lines if len(outcomes) == len(POPULATION)}
    return {item: played[item] for item in all_items(_BY_NAME) if item in played}


def _played(family: str, tasks: int) -> list[tuple[Item, list[float]]]:
    return [(item, item.outcomes(tasks)) for item in all_items([family])]
