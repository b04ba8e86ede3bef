"""`python -m tests.suites_gate.mutation`: plants faults in seats and in the network between them, and scores the finds.

Each fault is planted in a team whose answers are right without it: its twin.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from rich.console import Console

from benchmarks.tables import ResultTable, write_section
from concord.suite import Draw
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.suites_gate.causes import SIZES, planted_in_family
from tests.suites_gate.faults import FAULTS, MOST_TRIES
from tests.suites_gate.measures import task_of
from tests.suites_gate.network import NETWORK_FAULTS, STYLES, Planted, alarms, planted, team_of

DOCUMENT: Final = Path(__file__).parents[2] / "docs/benchmarks.md"
TASKS: Final = 2
"""Tasks of each family for each kind of fault in the network."""

FOUND: Final = 0.95
"""The share of the faults that cost a team some of its answer, of which kind, place and step must be found."""

ALARMS: Final = 0.02
"""The share of the twins against which anything may be said."""


class Mutant(NamedTuple):
    """A planted fault, and what was found of it."""

    kind: str
    family: str
    tolerated: int
    """Faults of the kind that this team tolerated before one cost it some of its answer."""
    harmful: bool
    found: tuple[bool, bool, bool] = (False, False, False)
    """The kind, the seat or the edge, and the step."""
    said: str = ""
    alarms: str = ""
    """What is said against the team without the fault."""


def mutant_of(family: TextFamily, number: int, kind: str) -> Mutant:
    """Plants faults of a kind in the network of a team, until one costs it some of its answer."""
    task = task_of(family, SIZES[number % len(SIZES)], number)
    team = team_of(family, task, STYLES[number % len(STYLES)])
    twin = team.play()
    if twin.grade.outcome < 1:
        raise AssertionError(f"without a fault, {family.name} {number} is not done")
    said, tolerated = ", ".join(alarms(twin)), 0
    for fault in list(NETWORK_FAULTS[kind](twin, Draw(f"{number} {kind} {task.question}".encode())))[:MOST_TRIES]:
        each = planted(fault, team, twin)
        if not each.tolerated:
            found = each.kind_found, each.place_found, each.step_found
            return Mutant(kind, family.name, tolerated, True, found, _said(each), said)
        tolerated += 1
    return Mutant(kind, family.name, tolerated, False, alarms=said)


def _said(each: Planted) -> str:
    place = set(each.fault.seats)
    return ", ".join(sorted({f"{one.cause}{'' if set(one.seats) <= place else ' elsewhere'}" for one in each.failures}))


def mutants_of(name: str, tasks: int, kinds: Sequence[str]) -> list[Mutant]:
    """All kinds on so many tasks of a family. Of the faults of seats, the causes gate knows no step: it is as found as
    the seat."""
    [family] = [each for each in FAMILIES if each.name == name]
    network = [kind for kind in NETWORK_FAULTS if kind in kinds]
    found = [mutant_of(family, at, kind) for at, kind in enumerate(network * tasks, start=len(name))]
    for each in planted_in_family(name, 1, [kind for kind in FAULTS if kind in kinds]):
        checks = each.cause_found, each.seat_found and not each.innocent, True
        found.append(Mutant(f"{each.kind}, by {each.exchange}", name, 0, True, checks, each.found))
    return found


def missed(mutants: Sequence[Mutant]) -> Iterator[str]:
    """What of the goal is missed."""
    if (share := fmean(all(each.found) for each in mutants if each.harmful)) < FOUND:
        yield f"{share:.2%} of the faults are found by kind, place and step, less than {FOUND:.0%}"
    if (share := fmean(bool(each.alarms) for each in mutants)) > ALARMS:
        yield f"something is said against {share:.2%} of the teams without a fault, more than {ALARMS:.0%}"


def table_of(mutants: Sequence[Mutant]) -> ResultTable:
    """What was found, by kind."""
    kinds = [(kind, [each for each in mutants if each.kind == kind]) for kind in dict.fromkeys(m.kind for m in mutants)]
    return ResultTable(
        "Planted faults",
        "*Cost*: faults that cost a team some of its answer. Of these, the share whose kind, seat or edge, and step "
        "are found in every wrong part. *Tolerated*: faults beside them that cost nothing. *Alarms*: teams without a "
        "fault against which anything is said.",
        ("Fault", "Cost", "Kind", "Place", "Step", "Found", "Tolerated", "Alarms", "Survivors"),
        [_row(kind, those) for kind, those in [*kinds, ("all", mutants)]],
    )


def _row(kind: str, mutants: Sequence[Mutant]) -> list[str]:
    harmful = [each.found for each in mutants if each.harmful]
    shares = [f"{fmean(each[at] for each in harmful):.1%}" if harmful else "" for at in range(3)]
    whole = f"{fmean(map(all, harmful)):.1%}" if harmful else ""
    survivors = Counter(each.said for each in mutants if each.harmful and not all(each.found))
    named = (
        "; ".join(f"{n} {said}" for said, n in survivors.most_common(2)) if kind != "all" else str(survivors.total())
    )
    counts = str(sum(each.tolerated for each in mutants)), str(sum(bool(each.alarms) for each in mutants))
    return [kind, str(len(harmful)), *shares, whole, *counts, named]


def main() -> int:
    """Reads the arguments and measures. Returns 1 if the goal is missed."""
    parser = argparse.ArgumentParser("tests.suites_gate.mutation", description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS, metavar="N", help=f"of each family (default: {TASKS})")
    parser.add_argument("--families", metavar="A,B", help="only these; all without")
    parser.add_argument("--kinds", metavar="A;B", help="only these; all without")
    parser.add_argument("--network", action="store_true", help="only the faults of the network")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    names = arguments.families.split(",") if arguments.families else [family.name for family in FAMILIES]
    every = list(NETWORK_FAULTS) if arguments.network else [*NETWORK_FAULTS, *FAULTS]
    kinds = arguments.kinds.split(";") if arguments.kinds else every
    console, mutants = Console(stderr=True), list[Mutant]()
    with ProcessPoolExecutor(arguments.processes) as pool:
        jobs = {pool.submit(mutants_of, name, arguments.tasks, kinds): name for name in names}
        for number, job in enumerate(as_completed(jobs), start=1):
            mutants += job.result()
            console.print(f"{number} of {len(names)}: {jobs[job]}")
    order = list(dict.fromkeys([*NETWORK_FAULTS, *(each.kind for each in mutants)]))
    table = table_of(sorted(mutants, key=lambda each: (order.index(each.kind), each.family)))
    Console().print(table.markdown(), markup=False, highlight=False, soft_wrap=True)
    if arguments.write:
        write_section(DOCUMENT, "mutation", [table])
    reasons = list(missed(mutants))
    Console().print("\n".join(reasons) or "The goal is met.")
    return int(bool(reasons))


if __name__ == "__main__":
    sys.exit(main())
