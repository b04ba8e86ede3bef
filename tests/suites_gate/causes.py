"""`python -m tests.suites_gate.causes`: plants single faults in all styles and exchanges, and counts those found."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from rich.console import Console

from benchmarks.tables import ResultTable, write_section
from concord.suite import Draw, Fact, Topology
from concord_evaluator.information.causes import Cause
from concord_evaluator.information.failures import Failure
from concord_evaluator.information.flow import Sent
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.suites_gate.calls import Played as PlayedByCalls
from tests.suites_gate.deeds import Aggregated
from tests.suites_gate.faults import FAULTS, NEED_RELAYS, Fault, played_with, situation_of
from tests.suites_gate.measures import task_of
from tests.suites_gate.minds import Mind
from tests.suites_gate.plans import Plan
from tests.suites_gate.play import Played, play
from tests.suites_gate.teams import Habits, ScriptedTeam, Telling
from tests.suites_gate.transcript import as_calls
from tests.suites_gate.writings import WRITINGS

DOCUMENT: Final = Path(__file__).parents[2] / "docs/tasks.md"
STYLES: Final = ("prose", "table", "JSON", "numbers in words", "words around")
EXCHANGES: Final = ("rounds", "calls")
SIZES: Final = (6, 3, 8, 5)
TASKS: Final = 2
"""Tasks of each family for each kind, style and exchange."""

FOUND: Final = 0.98
"""The share of the planted faults whose cause must be found, and of those whose seat must be."""

INNOCENT: Final = 0.01
"""The share of trials in which another seat may be named."""

_RESULT: Final = "result so far"
_WITH_RELAYS: Final = (Topology.CHAIN, Topology.TREE, Topology.STAR)
IN_ROUNDS_ONLY: Final[Mapping[str, str]] = {
    "replies unreadable": "a callee's answer has no form that it could miss",
    "truncated": "a call's whole text arrives",
}
"""Kinds that cannot be made by calls, with the reason."""

_ASKED: Final = frozenset({"withheld", "sent in the last round", "sent after the answer"})
"""Kinds that are planted by calls where the others ask. A seat that nobody asks leaves the record of one that waits to
be asked, so that its silence is one kind with that of the seat which did not ask, and its delay with an early answer.
"""


_IN_A_MESSAGE: Final = frozenset(
    {Cause.MISDIRECTED, Cause.CHANGED, Cause.CONTRADICTED, Cause.INVENTED, Cause.TRUNCATED, Cause.TOO_LATE}
)
"""The causes that lie in a message."""


class Planted(NamedTuple):
    """One planted fault, and what the evaluator found."""

    kind: str
    style: str
    exchange: str
    family: str
    number: int
    cause_found: bool
    """Whether every failure has the cause."""
    seat_found: bool
    """Whether every failure names the seat."""
    innocent: bool
    """Whether some failure names another seat."""
    found: str
    step_found: bool
    """Whether every message that is shown is one that the seat changed. Of one that it did not send, the record shows
    none, or what the seat was told, or whom else it told."""
    alarms: str
    """What is said against the team without the fault."""


@dataclass
class StyledTeam(ScriptedTeam):
    """A team that writes in one style."""

    partial_results: float = 0.0
    style: str = STYLES[0]

    def _text(self, telling: Telling) -> str:
        task, habits = self.mind.task, self.habits
        wrong_result = habits.wrong if isinstance(habits, Aggregated) else None
        facts = {fact.id: fact for fact in task.facts}
        labels = [_RESULT if each == wrong_result else label_of(facts[each.id]) for each in telling.facts]
        named = [replace(each, id=label) for each, label in zip(telling.facts, labels, strict=True)]
        return WRITINGS[self.style](task, named)


def label_of(fact: Fact) -> str:
    """What messages call a fact: its id, without its value."""
    return fact.id.replace(fact.value.text, "").strip() or "entry"


def planted_in(family: TextFamily, number: int, kind: str, style: str, exchange: str) -> Planted | None:
    """Plants a fault of a kind; None if it cannot be made, or does not change the outcome."""
    if exchange == "calls" and kind in IN_ROUNDS_ONLY:
        return None
    topologies = _WITH_RELAYS if kind in NEED_RELAYS else tuple(Topology)
    task = task_of(family, SIZES[number % len(SIZES)], number, topologies)
    draw = Draw(f"{number} {kind} {style} {exchange} {task.question}".encode())

    def team(mind: Mind, plan: Plan, draw: Draw, habits: Habits) -> ScriptedTeam:
        return StyledTeam(mind, plan, draw, habits, style=style)

    situation = situation_of(Mind(family, task), draw, label_of)
    planted = played_with(situation, kind, team)
    if planted is None:
        return None
    fault, in_rounds = planted
    asked = kind in _ASKED or draw.chance(0.5)
    honest = play(family, task, team(situation.mind, situation.plan, draw, Habits()), situation.max_rounds)
    played: Played | PlayedByCalls = in_rounds
    twin: Played | PlayedByCalls = honest
    if exchange == "calls":
        played = as_calls(in_rounds, situation.plan, draw, asked=asked)
        twin = as_calls(honest, situation.plan, draw, asked=asked)
    failures = played.failures()
    found = {each.cause + ("" if fault.seat in each.seats else " elsewhere") for each in failures}
    return Planted(
        kind,
        style,
        exchange,
        family.name,
        number,
        cause_found=bool(failures) and all(each.cause is fault.cause for each in failures),
        seat_found=bool(failures) and all(fault.seat in each.seats for each in failures),
        innocent=any(seat != fault.seat for each in failures for seat in each.seats),
        found=", ".join(sorted(found)) or "nothing",
        step_found=bool(failures) and _shows(fault, failures, played.sent, _said(in_rounds) - _said(honest)),
        alarms=", ".join(alarms(twin)),
    )


def _said(played: Played) -> frozenset[tuple[int, str, str, str]]:
    return frozenset((each.round, each.sender, each.receiver, each.text) for each in played.rounds.messages)


def _shows(
    fault: Fault, failures: Sequence[Failure], sent: Sequence[Sent], changed: Collection[tuple[int, str, str, str]]
) -> bool:
    """Whether each failure shows a message that the fault changed, if it changed one, else none but the seat's."""
    texts = [text for _, sender, _, text in changed if sender == fault.seat]
    for each in failures:
        shown = [message for message in sent if message.step_id == each.step_id]
        if fault.cause in _IN_A_MESSAGE:
            is_right = any(one.sender == fault.seat and any(text in one.text for text in texts) for one in shown)
        else:
            is_right = not shown or any(fault.seat in {one.sender, one.receiver} for one in shown)
        if not is_right:
            return False
    return True


def alarms(played: Played | PlayedByCalls) -> list[str]:
    """What is said against a team whose answers are right."""
    failures = [f"{each.cause} {', '.join(each.seats)}" for each in played.failures()]
    unproven = [f"{part} unproven" for part, value in played.credit().parts.items() if value < 1]
    return [*failures, *(f"{each.seat} unexplained" for each in played.unexplained()), *unproven]


def planted_in_family(name: str, tasks: int, kinds: Sequence[str]) -> list[Planted]:
    """All kinds in all styles and exchanges, on so many tasks of a family each. No two kinds share a task."""
    [family] = [each for each in FAMILIES if each.name == name]
    cells = list(product(kinds, STYLES, EXCHANGES, range(tasks)))
    found = [planted_in(family, at, kind, style, exchange) for at, (kind, style, exchange, _) in enumerate(cells)]
    return [each for each in found if each is not None]


def main() -> int:
    """Reads the arguments and measures. Returns 1 if the goal is missed."""
    parser = argparse.ArgumentParser("tests.suites_gate.causes", description=__doc__)
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


def missed(planted: Sequence[Planted]) -> Iterator[str]:
    """What of the goal is missed."""
    for what, share in (
        ("causes", fmean(each.cause_found for each in planted)),
        ("seats", fmean(each.seat_found for each in planted)),
    ):
        if share < FOUND:
            yield f"{share:.2%} of the {what} are found, less than {FOUND:.0%}"
    if (share := fmean(each.innocent for each in planted)) > INNOCENT:
        yield f"innocent seats are named in {share:.2%} of the trials, more than {INNOCENT:.0%}"


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
