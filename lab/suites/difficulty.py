"""`python -m lab.suites.difficulty`: how hard each item is for a population of scripted teams, and `standard-2`.

The population plays every family at each size, topology and difficulty; an item response model is fitted; 24 items are
chosen; and the population plays several tasks of each, as of `standard-1`. `--write` puts the tables into the document
and the choice into the manifest. What was played stays in `output/difficulty.jsonl`, and is played once.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import fmean, variance
from typing import Final

import numpy as np
from rich.console import Console

from concord.assessment.suite_tasks import SuiteManifest
from concord.suite import installed_manifests
from concord_evaluator.statistics import POWER, detectable_difference
from concord_suites import FAMILIES
from lab.benchmarks.tables import ResultTable, write_section
from lab.suites.choice import CHOSEN, RANGE, ability_range, chosen_items
from lab.suites.items import Item, play_all, read_outcomes
from lab.suites.population import POPULATION
from lab.suites.response_model import ResponseModel, fitted
from lab.suites.steps import family_table

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs/difficulty.md"
MANIFEST: Final = ROOT / "suites/concord_suites/manifests/standard-2.json"
PLAYED: Final = Path("output/difficulty.jsonl")

TASKS: Final = 1
"""Tasks of each item by which it is calibrated."""

REPEATS: Final = 3
"""Tasks of each chosen item that the population plays."""

RUNS: Final = (1, 3, 6, 12)
BANDS: Final = (0, 20, 40, 60, 80, 100)
"""Limits of scores between which teams are shown together."""


def main() -> int:
    """Plays what is missing, fits, chooses and prints. Returns 1 if the model cannot be fitted."""
    parser = argparse.ArgumentParser("lab.suites.difficulty", description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--families", metavar="A,B", help="play and fit only these, and choose none")
    parser.add_argument("--write", action="store_true", help=f"write docs/{DOCUMENT.name} and {MANIFEST.name}")
    arguments = parser.parse_args()
    known = [family.name for family in FAMILIES]
    names = arguments.families.split(",") if arguments.families else known
    if unknown := set(names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    play_all(names, TASKS, arguments.processes, PLAYED)
    played = {item: outcomes for item, outcomes in read_outcomes(PLAYED).items() if item.family in names}
    if arguments.families:
        model = fitted(list(played.values()))
        Console().print(family_table(played, model).markdown(), markup=False, highlight=False, soft_wrap=True)
        return int(not model.converged)
    items, model = list(played), fitted(list(played.values()))
    chosen = chosen_items(items, model)
    first = [
        Item(task.name, task.seats or 5, str(task.topology), task.difficulty)
        for task in SuiteManifest.model_validate_json(installed_manifests()["standard-1"]).tasks
    ]
    with ProcessPoolExecutor(arguments.processes) as pool:
        trials = {
            name: list(pool.map(_repeated, each)) for name, each in (("standard-1", first), ("standard-2", chosen))
        }
    tables = [
        family_table(played, model),
        choice_table(items, model, chosen),
        precision_table({name: _teams(of_name) for name, of_name in trials.items()}),
    ]
    for table in tables:
        Console().print(table.markdown(), markup=False, highlight=False, soft_wrap=True)
    if arguments.write:
        write_section(DOCUMENT, "difficulty", tables)
        MANIFEST.write_text(manifest_text(chosen), encoding="utf-8")
    return int(not model.converged)


def _repeated(item: Item) -> list[list[float]]:
    """The outcomes of each team in several tasks of an item, by none of which it was calibrated."""
    minds = [item.mind(number) for number in range(TASKS + 1, TASKS + REPEATS + 1)]
    return [[team.outcome(mind) for mind in minds] for team in POPULATION]


@dataclass(frozen=True, slots=True)
class TeamScore:
    """A team's score in a manifest (0 to 100), and the variance of an outcome within a task's repetitions."""

    score: float
    within: float

    def error(self, runs: int, tasks: int = CHOSEN) -> float:
        """The standard error of the score of so many runs (points)."""
        return 100 * sqrt(self.within / (runs * tasks))


def _teams(trials: Sequence[Sequence[Sequence[float]]]) -> list[TeamScore]:
    """The score of each team; `trials`: outcomes by item, team and repetition."""
    found = []
    for place in range(len(POPULATION)):
        of_team = [of_item[place] for of_item in trials]
        found.append(TeamScore(100 * fmean(map(fmean, of_team)), fmean(map(variance, of_team))))
    return found


def choice_table(items: Sequence[Item], model: ResponseModel, chosen: Sequence[Item]) -> ResultTable:
    """The chosen items, the easiest first."""
    places = {item: at for at, item in enumerate(items)}
    ranked = sorted(chosen, key=lambda item: float(model.difficulties[places[item]]))
    informs = model.information(ability_range(model))[:, [places[item] for item in chosen]].sum(axis=1)
    low, high = ability_range(model)[[0, -1]]
    return ResultTable(
        "The tasks of standard-2",
        f"Chosen for information between the abilities {low:.2f} and {high:.2f}, the percentiles {RANGE[0]} and "
        f"{RANGE[1]} of the population. All tasks together inform by {float(np.min(informs)):.1f} to "
        f"{float(np.max(informs)):.1f} there.",
        ("family", "seats", "topology", "difficulty 1 to 5", "difficulty", "discrimination"),
        [
            [
                *(item.family, str(item.seats), item.topology, str(item.difficulty)),
                f"{float(model.difficulties[places[item]]):.2f}",
                f"{float(model.discriminations[places[item]]):.2f}",
            ]
            for item in ranked
        ],
    )


def precision_table(teams: Mapping[str, Sequence[TeamScore]]) -> ResultTable:
    """What scores of so many runs are worth, by manifest and band of scores."""
    rows = [row for name, scores in teams.items() for row in _bands(name, scores)]
    spread = "; ".join(
        f"{name}: {sum(each.score < 5 for each in scores)} of {len(scores)} teams score below 5 and "
        f"{sum(each.score > 95 for each in scores)} above 95, and {reliability(scores):.2f} of the variance of the "
        "scores of one run is between teams"
        for name, scores in teams.items()
    )
    return ResultTable(
        "Precision of a score",
        f"Each team of the population plays {REPEATS} tasks of each item. *SE*: the standard error of the score of so "
        "many runs, in points, for fixed items. *Shown*: the difference in points between two equally able versions on "
        f"as many puzzles that so many runs show in {POWER:.0%} of cases, if their faults are independent. {spread}.",
        (
            *("manifest and score", "teams"),
            *(f"SE, {runs} run{'s' * (runs > 1)}" for runs in RUNS),
            *(f"shown, {runs} run{'s' * (runs > 1)}" for runs in RUNS),
        ),
        rows,
    )


def reliability(scores: Sequence[TeamScore]) -> float:
    """The part of the variance of the scores of one run that is between teams, 0 to 1."""
    error = fmean(each.error(1) ** 2 for each in scores)
    between = max(0.0, variance(each.score for each in scores) - error / REPEATS)
    return between / (between + error)


def _bands(name: str, scores: Sequence[TeamScore]) -> Iterator[list[str]]:
    for low, high in pairwise(BANDS):
        last = high == BANDS[-1]
        within = [each for each in scores if low <= each.score < high or (last and each.score == high)]
        if not within:
            continue
        typical = TeamScore(fmean(each.score for each in within), fmean(each.within for each in within))
        shown = (detectable_difference(sqrt(2 * typical.within), runs * CHOSEN) for runs in RUNS)
        yield [
            f"{name}, {low} to {high}",
            str(len(within)),
            *(f"{typical.error(runs):.1f}" for runs in RUNS),
            *("none" if each is None else f"{100 * each:.0f}" for each in shown),
        ]


def manifest_text(chosen: Sequence[Item]) -> str:
    """The manifest of the chosen items."""
    tasks = [
        {
            "id": f"{item.family}-{item.seats}",
            "name": item.family,
            "seats": item.seats,
            "topology": item.topology,
            "difficulty": item.difficulty,
        }
        for item in chosen
    ]
    lines = ",\n".join(f"    {json.dumps(task)}" for task in tasks)
    return (
        '{\n  "name": "standard-2",\n'
        '  "description": "Provisional: 24 tasks, chosen for information over the whole range of scripted teams.",\n'
        f'  "exchange": "rounds",\n  "tasks": [\n{lines}\n  ]\n}}\n'
    )


if __name__ == "__main__":
    sys.exit(main())
