"""`python -m lab.suites`: measures the families of tasks, prints tables, and fails if a family is unfit."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final

from rich.console import Console

from concord_suites import FAMILIES
from lab.benchmarks.tables import write_section
from lab.suites.tables import Counts, tables_of
from tests.kit.players.ladders import LADDER_TASKS
from tests.kit.players.measures import FAULTS_FOUND, GOOD_TASKS, PRETENDED_TASKS, Measures, measured

DOCUMENT: Final = Path(__file__).parents[2] / "docs/tasks.md"


def main() -> int:
    """Reads the arguments and measures. Returns 1 if a family does not pass."""
    parser = argparse.ArgumentParser("lab.suites", description=__doc__)
    parser.add_argument(
        "--pretended",
        type=int,
        default=PRETENDED_TASKS,
        metavar="N",
        help=f"tasks of each family on which teams pretend (default: {PRETENDED_TASKS})",
    )
    parser.add_argument(
        "--instances",
        type=int,
        default=GOOD_TASKS,
        metavar="N",
        help=f"tasks of each family for everything else (default: {GOOD_TASKS})",
    )
    parser.add_argument(
        "--ladders",
        type=int,
        default=LADDER_TASKS,
        metavar="N",
        help=f"tasks of each family for the ladders (default: {LADDER_TASKS})",
    )
    parser.add_argument("--families", metavar="A,B", help="only these; all without")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--write", action="store_true", help=f"put the tables into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    names = [family.name for family in FAMILIES]
    wanted = arguments.families.split(",") if arguments.families else names
    if unknown := set(wanted) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    counts = Counts(arguments.instances, arguments.pretended, arguments.ladders)
    families = _measured_in(arguments.processes, wanted, counts)
    tables = list(tables_of(families, counts))
    reasons = list(_reasons(families))
    console = Console()
    for table in tables:
        console.print(table.markdown(), markup=False, highlight=False, soft_wrap=True)
    console.print("\n".join(["Not passed:", *reasons]) if reasons else f"All {len(families)} families passed.")
    if arguments.write:
        write_section(DOCUMENT, "gate", tables)
    return int(bool(reasons))


def _measured_in(processes: int, wanted: Sequence[str], counts: Counts) -> list[Measures]:
    """Measures the families, several at a time, and says how far it is."""
    progress, found = Console(stderr=True), dict[str, Measures]()
    with ProcessPoolExecutor(processes) as pool:
        jobs = [pool.submit(_measured, name, counts) for name in wanted]
        for number, job in enumerate(as_completed(jobs), start=1):
            family = job.result()
            found[family.family] = family
            reasons = "; ".join(family.failed())
            progress.print(
                f"{number} of {len(wanted)}: {family.family} {f'FAILED: {reasons}' if reasons else 'passed'}"
            )
    return [found[name] for name in wanted]


def _measured(name: str, counts: Counts) -> Measures:
    [family] = [each for each in FAMILIES if each.name == name]
    return measured(family, *counts)


def _reasons(families: Sequence[Measures]) -> Iterator[str]:
    """Why the families do not pass."""
    for each in families:
        yield from (f"{each.family}: {reason}" for reason in each.failed())
    made, found = (sum(getattr(each, name).total() for each in families) for name in ("made", "found"))
    if found < FAULTS_FOUND * made:
        yield f"all: {found} of {made} faults are found"


if __name__ == "__main__":
    sys.exit(main())
