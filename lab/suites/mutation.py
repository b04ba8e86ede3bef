"""`python -m lab.suites.mutation`: plants faults in seats, in their network and in tools, and scores the finds.

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

from concord.suite import Draw
from concord_evaluator.messages import Sent
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from lab.benchmarks.tables import ResultTable, write_section
from lab.suites.network_calls import CALL_FAULTS, PlantedByCalls, planted_by_calls, plays_by_calls
from lab.suites.workshop_faults import TOOL_FAULTS, planted_tool_fault
from tests.kit.players.calls import Played as PlayedByCalls
from tests.kit.players.calls import play_well
from tests.kit.players.faults import FAULTS, MOST_TRIES
from tests.kit.players.measures import task_of
from tests.kit.players.network import NETWORK_FAULTS, STYLES, Planted, planted, team_of
from tests.kit.players.planted import SIZES, alarms, planted_in_family

DOCUMENT: Final = Path(__file__).parents[2] / "docs/benchmarks.md"
TASKS: Final = 2
"""Tasks of each family for each kind of fault in the network."""

WORKS: Final = 40
"""Teams that use tools, for each kind of fault of theirs."""

_IN_CALLS: Final = tuple(f"{kind}, in calls" for kind in CALL_FAULTS)

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


def mutant_by_calls(family: TextFamily, number: int, kind: str) -> Mutant | None:
    """Plants faults of a kind in the calls of a team, until one costs it some of its answer. None where seats wait."""
    task = task_of(family, SIZES[number % len(SIZES)], number)
    if not plays_by_calls(task):
        return None
    twin = play_well(family, task)
    if twin.grade.outcome < 1:
        raise AssertionError(f"without a fault, {family.name} {number} is not done")
    name, said, tolerated = f"{kind}, in calls", ", ".join(alarms(twin)), 0
    draw = Draw(f"{number} {name} {task.question}".encode())
    calls = draw.shuffled(sorted({(each.sender, each.receiver) for each in twin.sent if _is_request(each, twin)}))
    for fault in list(CALL_FAULTS[kind](calls, draw))[:MOST_TRIES]:
        each = planted_by_calls(fault, family, twin)
        if not each.tolerated:
            found = each.kind_found, each.place_found, each.step_found
            return Mutant(name, family.name, tolerated, True, found, _said(each), said)
        tolerated += 1
    return Mutant(name, family.name, tolerated, False, alarms=said)


def _is_request(message: Sent, twin: PlayedByCalls) -> bool:
    return next(each for each in twin.sent if each.step_id == message.step_id) is message


def _said(each: Planted | PlantedByCalls) -> str:
    place = set(each.fault.seats)
    return ", ".join(sorted({f"{one.kind}{'' if set(one.agents) <= place else ' elsewhere'}" for one in each.failures}))


def mutants_of(name: str, tasks: int, kinds: Sequence[str]) -> list[Mutant]:
    """All kinds of faults of the network and of seats on so many tasks of a family."""
    [family] = [each for each in FAMILIES if each.name == name]
    network = [kind for kind in NETWORK_FAULTS if kind in kinds]
    found = [mutant_of(family, at, kind) for at, kind in enumerate(network * tasks, start=len(name))]
    calls = [kind for kind in CALL_FAULTS if f"{kind}, in calls" in kinds]
    by_calls = [mutant_by_calls(family, at, kind) for at, kind in enumerate(calls * tasks, start=len(name))]
    found += [each for each in by_calls if each is not None]
    for each in planted_in_family(name, 1, [kind for kind in FAULTS if kind in kinds]):
        checks = each.cause_found, each.seat_found and not each.innocent, each.step_found
        found.append(Mutant(f"{each.kind}, by {each.exchange}", name, 0, True, checks, each.found, each.alarms))
    return found


def mutants_of_tools(kinds: Sequence[str]) -> list[Mutant]:
    """Faults of teams that use tools and edit files."""
    found = [(kind, planted_tool_fault(kind, seed)) for kind in TOOL_FAULTS if kind in kinds for seed in range(WORKS)]
    return [
        Mutant(kind, "", not each.harmful, each.harmful, (each.kind, each.place, each.step), each.said, each.alarms)
        for kind, each in found
    ]


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
    parser = argparse.ArgumentParser("lab.suites.mutation", description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS, metavar="N", help=f"of each family (default: {TASKS})")
    parser.add_argument("--families", metavar="A,B", help="only these; all without")
    parser.add_argument("--kinds", metavar="A;B", help="only these; all without")
    parser.add_argument("--network", action="store_true", help="only the faults of the network")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    names = arguments.families.split(",") if arguments.families else [family.name for family in FAMILIES]
    every = [*NETWORK_FAULTS, *_IN_CALLS] if arguments.network else [*NETWORK_FAULTS, *_IN_CALLS, *FAULTS, *TOOL_FAULTS]
    kinds = arguments.kinds.split(";") if arguments.kinds else every
    console, mutants = Console(stderr=True), mutants_of_tools(kinds)
    with ProcessPoolExecutor(arguments.processes) as pool:
        jobs = {pool.submit(mutants_of, name, arguments.tasks, kinds): name for name in names}
        for number, job in enumerate(as_completed(jobs), start=1):
            mutants += job.result()
            console.print(f"{number} of {len(names)}: {jobs[job]}")
    order = list(dict.fromkeys([*NETWORK_FAULTS, *_IN_CALLS, *TOOL_FAULTS, *(each.kind for each in mutants)]))
    table = table_of(sorted(mutants, key=lambda each: (order.index(each.kind), each.family)))
    Console().print(table.markdown(), markup=False, highlight=False, soft_wrap=True)
    if arguments.write:
        write_section(DOCUMENT, "mutation", [table])
    reasons = list(missed(mutants))
    Console().print("\n".join(reasons) or "The goal is met.")
    return int(bool(reasons))


if __name__ == "__main__":
    sys.exit(main())
