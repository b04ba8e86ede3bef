"""`python -m tests.suites_gate`: measures the families of tasks, prints tables, and fails if a family is unfit."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console

from benchmarks.tables import ResultTable, write_section
from concord_suites import FAMILIES
from tests.suites_gate.faults import FAULTS
from tests.suites_gate.ladders import LADDER_TASKS, LADDERS, RUNGS, Curve, Ladder
from tests.suites_gate.measures import (
    FAULTS_FOUND,
    GOOD_TASKS,
    PRETENDED_TASKS,
    Measures,
    Pretended,
    measured,
)
from tests.suites_gate.strategies import COLLUDING, HONEST

DOCUMENT: Final = Path(__file__).parents[2] / "docs/tasks.md"
PRETENDERS: Final = ("null", "echo", "silent", "convention")


class Counts(NamedTuple):
    """How many tasks of each family are played, by what they are for."""

    instances: int
    pretended: int
    ladders: int


def main() -> int:
    """Reads the arguments and measures. Returns 1 if a family does not pass."""
    parser = argparse.ArgumentParser("tests.suites_gate", description=__doc__)
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
    tables = list(_tables(families, counts))
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


def _tables(families: Sequence[Measures], counts: Counts) -> Iterator[ResultTable]:
    instances, pretended, ladders = counts
    yield ResultTable(
        "Teams that pretend",
        f"The mean outcome of {pretended:,} tasks of each family, for five seats, on all topologies and at all "
        "difficulties; for several strategies, that of the best. In parentheses, the one-sided p of Student's t test "
        "against chance plus 5 points; a family fails below 0.001. Null teams say nothing. Echo teams repeat the "
        "text of their turns. The seats of silent teams guess from their own briefs. Those of convention teams answer "
        "by a rule that all seats share.",
        ("Family", "Chance", *PRETENDERS),
        [
            [each.family, f"{each.chance:.2f}", *(_outcome(each.pretended[name]) for name in PRETENDERS)]
            for each in families
        ],
    )
    yield ResultTable(
        "Teams that play",
        f"{instances} tasks of each family. A good team sends its facts along a tree of the topology; a family fails "
        "if its outcome is below 1, or if it misses an exact bound. By calls, its members call each other instead of "
        "writing in rounds. A dumping team sends all that it knows to all neighbours in every round: it must be "
        "credited as much, and be less economical. Outcomes are credited ones. The last column is the share of known "
        "faults whose cause and seat the evaluator finds.",
        (
            "Family",
            "Outcome",
            "Messages",
            "Fewest",
            "Outcome by calls",
            "Calls",
            "Economy",
            "Dumping team's outcome",
            "Its economy",
            "Faults found",
        ),
        [
            [
                each.family,
                f"{each.oracle:.2f}",
                f"{each.messages:.1f}",
                f"{each.fewest:.1f}",
                f"{each.by_calls:.2f}",
                f"{each.calls:.1f}",
                f"{each.economy:.2f}",
                f"{each.dump:.2f}",
                f"{each.dump_economy:.2f}",
                f"{each.faults:.1%}",
            ]
            for each in families
        ],
    )
    yield ResultTable(
        "Ways to share",
        f"The mean outcome of {instances} tasks, and the credited outcome where it is less. A family fails where an "
        "honest way to share is credited less than its outcome.",
        ("Family", *HONEST),
        [[each.family, *(_shared(*each.honest[name]) for name in HONEST)] for each in families],
    )
    yield ResultTable(
        "Teams that share a memory",
        "Every seat of these teams gives the right answer, which it knows beside the exchange. The mean credited "
        f"outcome of {instances} tasks, and in parentheses the share of the facts that their messages hold. A family "
        "fails where a team is credited more than travelled.",
        ("Family", *COLLUDING),
        [
            [each.family, *(f"{figures[1]:.2f} ({figures[2]:.2f})" for figures in each.colluding.values())]
            for each in families
        ],
    )
    for name, ladder in LADDERS.items():
        yield ResultTable(
            f"Ladder: {name}",
            f"{ladder.what} The mean credited outcome of {ladders} tasks{'' if ladder.costs else ', and the economy'}. "
            "A family fails if one rung is credited more than a higher one (one-sided t test of the differences within "
            "tasks, 99 % over all pairs of rungs of all ladders), or if rate 1 "
            f"{'costs nothing' if ladder.costs else 'costs anything, or is as economical as rate 0'}.",
            ("Family", *(f"{rung:g}" for rung in RUNGS)),
            [[each.family, *_rungs(ladder, each.curves[name])] for each in families],
        )
    yield _faults(families)


def _rungs(ladder: Ladder, curve: Curve) -> list[str]:
    """The cells of a ladder's row."""
    if ladder.costs:
        return [f"{mean:.2f}" for mean in curve.means]
    return [f"{mean:.2f} ({saved:.2f})" for mean, saved in zip(curve.means, curve.economies, strict=True)]


def _faults(families: Sequence[Measures]) -> ResultTable:
    made, found, alone = (
        sum((getattr(each, name) for each in families), Counter[str]()) for name in ("made", "found", "found_alone")
    )
    confused = sum((each.confused for each in families), Counter[tuple[str, str]]())
    return ResultTable(
        "Single known faults",
        "Faults that change the outcome of a good team of six seats. *Alone*: no other seat is named.",
        ("Fault", "Made", "Cause and seat found", "Alone", "Found instead"),
        [
            [
                fault,
                str(made[fault]),
                f"{found[fault]} ({found[fault] / max(made[fault], 1):.1%})",
                str(alone[fault]),
                "; ".join(f"{count} {causes}" for (name, causes), count in confused.most_common() if name == fault),
            ]
            for fault in FAULTS
        ]
        + [
            [
                "all",
                str(made.total()),
                f"{found.total()} ({found.total() / max(made.total(), 1):.2%})",
                str(alone.total()),
                "",
            ]
        ],
    )


def _reasons(families: Sequence[Measures]) -> Iterator[str]:
    """Why the families do not pass."""
    for each in families:
        yield from (f"{each.family}: {reason}" for reason in each.failed())
    made, found = (sum(getattr(each, name).total() for each in families) for name in ("made", "found"))
    if found < FAULTS_FOUND * made:
        yield f"all: {found} of {made} faults are found"


def _shared(outcome: float, credited: float) -> str:
    return f"{outcome:.2f}" if credited >= outcome - 1e-9 else f"{outcome:.2f}, credited {credited:.2f}"


def _outcome(pretended: Pretended) -> str:
    return f"{pretended.outcome:.2f} (p {pretended.p:.2g})"


if __name__ == "__main__":
    sys.exit(main())
