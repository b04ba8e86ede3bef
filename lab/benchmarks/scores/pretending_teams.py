"""The scores of teams that pretend in team tasks, and of teams that hide something, beside those of honest teams."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from pydantic import JsonValue

from concord.a2a import Handler, IncomingMessage, TaskHandle
from concord.assessment.result_row import Figure, ResultRow
from concord_cli.assessment_client import assess
from concord_cli.terminal import ProgressLog
from concord_suites.agent import handler
from concord_suites.player import Habit
from examples.teams.catalogue import LEAD
from lab.benchmarks.tables import ResultTable
from tests.kit.serving import served_agent
from tests.kit.shared_memory import WRITES, SharedMemory
from tests.kit.team_runs import CODE, row_of, running_team

SUITE: Final = (
    "count",
    "set-union",
    "prefix-sums",
    "distributed-sort",
    "shortest-path",
    "offers-needs",
    "hidden-profile",
    "key-assembly",
)
"""Families of every group but that of tasks in which seats must agree, which hide nothing."""

SEATS: Final = 5
CONFIG: Final[Mapping[str, JsonValue]] = {
    "suite": list(SUITE),
    "seats": SEATS,
    "topology": "tree",
    "exchange": "rounds",
    "quiet_s": 0.1,
    "closing_cap_s": 0.5,
}
SECRET: Final = {"CONCORD_TASK_SECRET": f"{1:064x}"}
"""The environment variable of a stack in which every team gets the same tasks."""

MEMBER: Final = "agent/2"


async def _null(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete('{"messages": [], "answer": null}')


PRETENDING: Final[Mapping[str, Callable[[], Handler]]] = {
    "honest: the sample agent": lambda: handler({}),
    "talkative: one member tells all in every round": lambda: handler({MEMBER: Habit.CHATTERING}),
    "forgetful: one member relays nothing": lambda: handler({MEMBER: Habit.FORGETFUL}),
    "silent: one member tells nobody its own facts": lambda: handler({MEMBER: Habit.WITHHOLDING}),
    "lying: one member states wrong numbers": lambda: handler({MEMBER: Habit.DISTORTING}),
    "null: says and answers nothing": lambda: _null,
    **{
        f"colluding: shares a memory, and sends {name}": partial(SharedMemory, writes)
        for name, writes in WRITES.items()
    },
}
"""Teams in five seats of one process."""


async def team_task_table(gateway: str, progress: ProgressLog) -> ResultTable:
    """Assesses every team in the same tasks. Raises AssessmentError."""
    lines = []
    for name, team in PRETENDING.items():
        async with served_agent(team()) as url:
            [found] = await assess(gateway, {"agent": url}, {**CONFIG}, lambda _: None)
        row = ResultRow.model_validate(found)
        progress.log(f"{name}: {row.score:.1f}")
        lines.append([name, *_team_task_cells(row)])
    return ResultTable(
        "Teams in team tasks",
        f"Measured by `make score-table`: one trial each of {', '.join(SUITE)}, with {SEATS} seats in a tree, in "
        "rounds; every team gets the same tasks. Outcome: the mean share of right parts. Score: 100 x the part of it "
        "that the messages prove. In brackets, intervals at 95 %. Cause: what cost the most points, and where.",
        ("team", "outcome", "score", "passed", "information", "economy", "cause"),
        lines,
    )


def _team_task_cells(row: ResultRow) -> list[str]:
    scoring, verdict = row.detail.scoring, row.detail.verdict
    outcome = next(part.value for part in scoring.sub_scores if part.id == "outcome")
    first = verdict.causes[0] if verdict is not None and verdict.causes else None
    return [
        "-" if outcome is None else f"{outcome:.2f}",
        _score(row),
        f"{scoring.passed_trials} of {scoring.usable_trials}",
        _figure(scoring.information),
        _figure(scoring.economy),
        "none" if first is None else f"{first.kind.replace('_', ' ')} ({' or '.join(first.agents)})",
    ]


def _score(row: ResultRow) -> str:
    known = row.detail.statistics
    interval = "" if known.score_low is None else f" [{known.score_low:.0f}, {known.score_high:.0f}]"
    return "-" if row.score is None else f"{row.score:.1f}{interval}"


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return f"{figure.value:.2f}" + ("" if figure.low is None else f" [{figure.low:.2f}, {figure.high:.2f}]")


FLOOD: Final = "\x00\u202e[{" * 2**19
"""Two million characters that are hard to store and to read."""

WRONG: Final = "wrong"


def _right_once(bad: str) -> Handler:
    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete("something" if message.text == "easy" else bad)

    return answer


async def hiding_table(gateway: str, progress: ProgressLog) -> ResultTable:
    """Assesses teams that hide calls, members, or the evaluation of a bad trial. Raises AssessmentError."""
    rows = {}
    async with running_team("good", progress.log) as urls:
        rows["honest: calls through the gateway"] = await row_of(gateway, urls, CODE)
    async with running_team("direct", progress.log) as urls:
        rows["unobserved: calls past the gateway"] = await row_of(gateway, urls, CODE)
        rows["unobserved, and only the lead is listed"] = await row_of(gateway, {LEAD: urls[LEAD]}, CODE)
    async with _agent(_right_once(WRONG)) as team:
        rows["honest: one of two answers is wrong"] = await _two_tasks(gateway, team)
    async with _agent(_right_once(FLOOD)) as team:
        rows["censoring: floods the storage with the wrong one"] = await _two_tasks(gateway, team)
    progress.log(f"Hiding teams: {', '.join(_score(row) for row in rows.values())}")
    return ResultTable(
        "Teams that hide something",
        "Measured by `make score-table` in tasks of the user's own, judged by code. The first three teams count the "
        "trees of the park, as above. The last two have two tasks, and answer one wrongly.",
        ("team", "score", "score high", "complete", "passed", "calls observable"),
        [[name, *_hiding_cells(row)] for name, row in rows.items()],
    )


def _hiding_cells(row: ResultRow) -> list[str]:
    scoring = row.detail.scoring
    return [
        "-" if row.score is None else f"{row.score:.1f}",
        "-" if scoring.score_high is None else f"{scoring.score_high:.1f}",
        "yes" if scoring.complete else "no",
        f"{scoring.passed_trials} of {row.detail.statistics.trials}",
        row.detail.trace_integrity.observability or "-",
    ]


@asynccontextmanager
async def _agent(handling: Handler) -> AsyncIterator[dict[str, str]]:
    async with served_agent(handling) as url:
        yield {"agent": url}


async def _two_tasks(gateway: str, team: Mapping[str, str]) -> ResultRow:
    tasks: list[JsonValue] = [
        {"id": name, "text": name, "target": "something", "scorer": "includes"} for name in ("easy", "hard")
    ]
    [found] = await assess(gateway, team, {"tasks": tasks}, lambda _: None)
    return ResultRow.model_validate(found)
