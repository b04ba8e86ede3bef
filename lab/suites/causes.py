"""`python -m lab.suites.causes`: plants single faults in all styles and exchanges, and counts those found."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Final

from rich.console import Console

from concord_suites import FAMILIES
from lab.benchmarks.tables import ResultTable, write_section
from tests.kit.players.faults import FAULTS
from tests.kit.players.planted import EXCHANGES, STYLES, Planted, missed, planted_in_family

DOCUMENT: Final = Path(__file__).parents[2] / "docs/tasks.md"

TASKS: Final = 2
"""Tasks of each family for each kind, style and exchange."""


def main() -> int:
    """Reads the arguments and measures. Returns 1 if the goal is missed."""
    parser = argparse.ArgumentParser("lab.suites.causes", description=__doc__)
    parser.add_argument(
        "--tasks",
        type=int,
        default=TASKS,
        metavar="N",
        help=f"tasks of each family for each kind, style and exchange (default: {TASKS})",
    )
    parser.add_argument("--families", metavar="A,B", help="only these; all without")
    parser.add_argument("--kinds", metavar="A;B", help="only these; all without")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--list", action="store_true", help="name each fault of which cause or seat is not found")
    parser.add_argument("--write", action="store_true", help=f"put the tables into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    names = arguments.families.split(",") if arguments.families else [family.name for family in FAMILIES]
    kinds = arguments.kinds.split(";") if arguments.kinds else list(FAULTS)
    if unknown := {*names, *kinds} - {family.name for family in FAMILIES} - FAULTS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    console, planted = Console(), _planted(arguments.processes, names, arguments.tasks, kinds)
    tables = list(tables_of(planted))
    for table in tables:
        console.print(table.markdown(), markup=False, highlight=False, soft_wrap=True)
    for each in planted if arguments.list else ():
        if not each.cause_found or not each.seat_found or each.innocent:
            console.print(*each, markup=False, highlight=False, soft_wrap=True)
    if arguments.write:
        write_section(DOCUMENT, "causes", tables)
    reasons = list(missed(planted))
    console.print("\n".join(reasons) or "The goal is met.")
    return int(bool(reasons))


def _planted(processes: int, names: Sequence[str], tasks: int, kinds: Sequence[str]) -> list[Planted]:
    """Plants faults in several families at a time, and says how far it is."""
    progress, found = Console(stderr=True), list[Planted]()
    with ProcessPoolExecutor(processes) as pool:
        jobs = {pool.submit(planted_in_family, name, tasks, kinds): name for name in names}
        for number, job in enumerate(as_completed(jobs), start=1):
            found += job.result()
            progress.print(f"{number} of {len(names)}: {jobs[job]}")
    return sorted(found)


def tables_of(planted: Sequence[Planted]) -> Iterator[ResultTable]:
    """What was found, by kind, and by style and exchange."""
    by_kind = [(kind, [each for each in planted if each.kind == kind]) for kind in FAULTS]
    yield ResultTable(
        "Planted faults",
        "One fault of one seat in a team that otherwise plays well, in five styles, by rounds and by calls. *Cause* "
        "and *seat*: the share of trials in which every failure has that cause, and names that seat. *Innocent*: the "
        "share in which another seat is named.",
        ("Fault", "Planted", "Cause", "Seat", "Innocent", "Found instead"),
        [[*_row(kind, trials), _instead(trials)] for kind, trials in [*by_kind, ("all", planted)] if trials],
    )
    cells = product(STYLES, EXCHANGES)
    yield ResultTable(
        "Planted faults by style",
        "The same trials, by how the seats write, and how they exchange messages.",
        ("Style", "Planted", "Cause", "Seat", "Innocent"),
        [
            _row(f"{style}, {exchange}", trials)
            for style, exchange in cells
            if (trials := [each for each in planted if (each.style, each.exchange) == (style, exchange)])
        ],
    )


def _row(name: str, trials: Sequence[Planted]) -> list[str]:
    shares = (fmean(getattr(each, what) for each in trials) for what in ("cause_found", "seat_found", "innocent"))
    return [name, str(len(trials)), *(f"{share:.1%}" for share in shares)]


def _instead(trials: Sequence[Planted]) -> str:
    wrong = Counter(each.found for each in trials if not each.cause_found or not each.seat_found)
    return "; ".join(f"{count} {found}" for found, count in wrong.most_common(3)) if len(wrong) < 20 else ""


if __name__ == "__main__":
    sys.exit(main())
