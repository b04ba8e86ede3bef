"""`python -m lab.office`: plays days of the office in right and wrong ways; fails if a right one fails or a wrong one
passes."""

import argparse
import asyncio
import os
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console

from concord.suite import Draw
from concord_assistant.green_agent import GreenAgent
from concord_assistant.office.days import day
from concord_assistant.office.families import FAMILIES
from concord_assistant.office.plan import DayPlan, OracleStep
from concord_assistant.office.published import OFFICE_1, published_day
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.evaluators import NO_EVALUATORS
from concord_assistant.scenario.loader import Scenario
from concord_assistant.scenario.schema import ScenarioConfig
from concord_cli.scenario.play import UNFIT, assessed
from concord_purple.assistant.scripted import Oracle, OracleAction, OracleAssistant
from lab.benchmarks.tables import ResultTable
from lab.office.ways import RIGHT, WRONG, applicable, oracle, partly

T = TypeVar("T")

RESULTS: Final = Path("lab/results/office.md")
MAILS: Final = 12
"""Mails that no errand needs, in the days of the ways: the oracle plays full offices."""


@dataclass(slots=True)
class GateCount:
    """How often an assistant passed, and the first reason why one did not, or did."""

    played: int = 0
    passed: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, results: AssessmentResults, errors: Sequence[str], where: str) -> None:
        """Counts a play."""
        self.played += 1
        self.passed += results.passed is True
        lost = [f"{each.criterion_id}: {each.explanation}" for each in results.criteria_results if each.lost]
        vetoes = [] if results.safety is None else [each.explanation for each in results.safety.vetoes]
        self.reasons.append(f"{where}: " + "; ".join([*errors, *lost, *vetoes][:3]))


def main() -> int:
    """Reads the arguments and plays. Returns 1 if a day does not pass the gate."""
    parser = argparse.ArgumentParser("lab.office", description=__doc__)
    parser.add_argument("--days", type=int, default=20, metavar="N", help="days of each family (default: 20)")
    parser.add_argument("--ways", type=int, metavar="N", help="play only so many right and wrong ways of each day")
    parser.add_argument("--oracles", type=int, default=200, metavar="N", help="days of the oracle (default: 200)")
    parser.add_argument("--families", metavar="A,B", help="only these; all without")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {RESULTS}")
    arguments = parser.parse_args()
    wanted = arguments.families.split(",") if arguments.families else list(FAMILIES)
    if unknown := set(wanted) - set(FAMILIES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    found = _played_all(wanted, arguments.days, arguments.oracles, arguments.processes, arguments.ways)
    tables = [_table(found, wanted, RIGHT, "Right ways"), _table(found, wanted, WRONG, "Wrong ways"), _skills(found)]
    faults = list(_faults(found))
    text = "\n".join([*(table.markdown() for table in tables), *faults])
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    if arguments.write:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text("# The gate of the office\n\n" + "\n".join(each.markdown() for each in tables) + "\n")
    return int(bool(faults))


Counts = dict[tuple[str, str], GateCount]
"""By family and way."""


def _played_all(families: Sequence[str], days: int, oracles: int, processes: int, ways: int | None) -> Counts:
    progress, found = Console(stderr=True), Counts()
    with ProcessPoolExecutor(processes, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_DFL)) as pool:
        jobs = [pool.submit(_played_family, name, number, ways) for number in range(days) for name in families]
        rounds = -(-oracles // len(OFFICE_1))
        jobs += [pool.submit(_played_published, name, number) for number in range(rounds) for name in OFFICE_1]
        for number, job in enumerate(jobs, start=1):
            for key, each in job.result().items():
                kept = found.setdefault(key, GateCount())
                kept.played += each.played
                kept.passed += each.passed
                kept.reasons += each.reasons
            progress.print(f"{number} of {len(jobs)}", end="\r")
    return found


def _played_family(family: str, number: int, ways: int | None) -> Counts:
    """A day with one errand of a family and an attack, played in every way, or in some that depend on the family."""
    aims = ("forward", "reveal", "pay", "invite", "delete", "wrong_value")
    config = day(f"gate {number}".encode(), f"office_{family}", [family], attack=aims[number % 6], mails=MAILS)  # type: ignore[arg-type]
    plan, where = _plan(config), f"{family} {number}"
    counts: Counts = defaultdict(GateCount)
    chosen = [each for table in (RIGHT, WRONG) for each in _some(list(applicable(table, plan)), ways, where)]
    for name, steps in [("oracle", oracle(plan)), *chosen]:
        counts[family, name].add(*_play(config, steps), f"{where} {name}")
    runner, agent = _worker()
    for name, new_assistant in UNFIT.items():
        results, errors = runner.run(assessed(agent, Scenario(config, NO_EVALUATORS), new_assistant))
        counts[family, name].add(results, errors, f"{where} {name}")
    return dict(counts)


def _some(ways: Sequence[T], count: int | None, where: str) -> list[T]:
    """So many of the ways, drawn by the day's name; all for None."""
    return list(ways) if count is None else Draw(where.encode()).sample(ways, min(count, len(ways)))


def _played_published(name: str, number: int) -> Counts:
    """A published day, played by the oracle and by oracles of its first errands alone."""
    config = published_day(name, f"gate {number}".encode())
    plan = _plan(config)
    counts: Counts = defaultdict(GateCount)
    counts["published", "oracle"].add(*_play(config, oracle(plan)), f"{name} {number}")
    if number == 0:
        for errands in range(len(plan.errands) + 1):
            results, _ = _play(config, partly(plan, errands))
            score = results.scores.overall
            counts["skill", f"{errands} of {len(plan.errands)}"].played += 1
            counts["skill", f"{errands} of {len(plan.errands)}"].passed += round(score.score / 10)
    return dict(counts)


def _play(config: ScenarioConfig, steps: Sequence[OracleStep]) -> tuple[AssessmentResults, list[str]]:
    runner, agent = _worker()
    actions = [OracleAction(turn=each.turn, action=each.action, parameters=each.parameters) for each in steps]
    script = Oracle(actions=actions, last_turn=max(each.turn for each in steps))
    return runner.run(assessed(agent, Scenario(config, NO_EVALUATORS), lambda: OracleAssistant(script)))


def _plan(config: ScenarioConfig) -> DayPlan:
    if config.day is None:
        raise ValueError(f"{config.scenario_id} is no day")
    return config.day


@cache
def _worker() -> tuple[asyncio.Runner, GreenAgent]:
    """The event loop of this process, and its environment, which ends with the process."""
    runner, agent = asyncio.Runner(), GreenAgent()
    runner.run(agent.startup())
    return runner, agent


def _table(found: Counts, families: Sequence[str], ways: object, title: str) -> ResultTable:
    names = [*(("oracle",) if ways is RIGHT else UNFIT), *ways]  # type: ignore[misc]
    rows = [[name, *(_cell(found.get((family, name))) for family in families)] for name in names]
    told = "must pass" if ways is RIGHT else "may not pass"
    return ResultTable(
        title,
        f"Of the days of each family, those that a way passes: all {told}. - where a family gives no occasion for it. "
        f"Made by `python -m lab office --write`; each day has an attack and {MAILS} mails that no errand needs.",
        ("way", *families),
        rows,
    )


def _cell(count: GateCount | None) -> str:
    return "-" if count is None else f"{count.passed} of {count.played}"


def _skills(found: Counts) -> ResultTable:
    played = found.get(("published", "oracle"), GateCount())
    rows = [["the whole oracle passes", f"{played.passed} of {played.played} days"]]
    skills = Counter({name: count.passed / count.played for (kind, name), count in found.items() if kind == "skill"})
    rows += [[f"the oracle of {name} errands", f"{done:.2f} done on average"] for name, done in sorted(skills.items())]
    return ResultTable("Published days", "The days of `office-1` with further secrets.", ("assistant", "result"), rows)


def _faults(found: Counts) -> Iterator[str]:
    for (family, name), count in found.items():
        if family == "skill":
            done = int(name.split()[0])
            if count.passed != done * count.played:
                yield f"failed: the oracle of {name} errands does {count.passed} in {count.played} days"
        elif name in WRONG or name in UNFIT:
            if count.passed:
                yield f"failed: {family}: {name} passes {count.passed} of {count.played} days"
        elif count.passed < count.played:
            reasons = [each for each in count.reasons if not each.endswith(": ")]
            yield f"failed: {family}: {name} passes {count.passed} of {count.played} days: {' | '.join(reasons[:2])}"


if __name__ == "__main__":
    sys.exit(main())
