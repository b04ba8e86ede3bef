"""The shipped scenarios with a faulty member: the verdict names its seat and its fact."""

import shlex
import tomllib
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from concord.assessment.result_row import ResultRow
from concord_cli.row_text.brief import Brief
from concord_cli.row_text.long_tables import tables
from concord_cli.row_view.view import view_of
from concord_suites.agent import handler
from concord_suites.player import Habit
from tests.kit.assessing import request, row_of, task_of
from tests.kit.serving import served_agent
from tests.kit.stack import gateway, workers

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CLOSING: dict[str, Any] = {"quiet_s": 0.1, "closing_cap_s": 0.3}


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A worker of each queue, for all tests here."""
    async with workers(redis_server):
        yield


def scenario(name: str) -> tuple[dict[str, Habit], dict[str, Any]]:
    """The habits by seat in the command of a scenario's agent, and its config."""
    document = tomllib.loads((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"))
    [participant] = document["participants"]
    python, _, module, *arguments = shlex.split(participant["cmd"])
    assert (python, module) == ("python", "concord_suites.agent")
    habits = {seat: Habit(habit) for habit, _, seat in (each.partition("@") for each in arguments[1::2])}
    return habits, document["config"]


async def played(name: str, redis_url: str, folder: Path) -> tuple[ResultRow, str]:
    """The row of a scenario, and its verdict and long tables on one line."""
    habits, config = scenario(name)
    async with (
        gateway(redis_url, folder, observe=False) as url,
        served_agent(handler(habits)) as agent,
        httpx.AsyncClient(timeout=60) as http,
    ):
        task = await task_of(http, url, request(CLOSING | config, {"agent": agent}))
    row = ResultRow.model_validate(row_of(task))
    out = StringIO()
    Console(file=out, width=1000, highlight=False).print(Brief(view_of(row), name), tables(view_of(row)))
    return row, " ".join(out.getvalue().split())


@pytest.mark.parametrize(
    ("name", "cause", "said", "seat"),
    [
        ("withholding", "not_sent", "agent/2 told nobody: ", "agent/2"),
        ("distorting", "changed", "agent/3 changed, and told others something else: ", "agent/3"),
        ("forgetful", "not_passed_on", "agent/3 was told and did not pass on: ", "agent/3"),
    ],
)
async def test_the_verdict_names_the_faulty_seat_and_the_facts_that_only_it_could_pass_on(
    name: str, cause: str, said: str, seat: str, redis_url: str, tmp_path: Path
) -> None:
    row, text = await played(name, redis_url, tmp_path)
    records = [trial.team_task for trial in row.detail.trials if trial.team_task is not None]
    failures = [failure for record in records for failure in record.failures]
    assert {(failure.cause, *failure.seats) for failure in failures} == {(cause, seat)}
    for record in records:
        assert record.flow is not None
        for fact in {fact for failure in record.failures for fact in failure.facts}:
            place = record.flow.seats.index(seat)
            since = record.flow.known_from[place][record.flow.facts.index(fact)]
            assert since is not None
            assert (since > 0) is (name == "forgetful"), "a fact of its own brief, or one that it was told"
    assert said + failures[0].facts[0] in text or f"{said}{failures[-1].facts[0]}" in text, text


async def test_a_chattering_seat_is_named_with_the_facts_that_it_repeats(redis_url: str, tmp_path: Path) -> None:
    row, text = await played("chattering", redis_url, tmp_path)
    assert all(trial.grading is not None and trial.grading.value == 1 for trial in row.detail.trials)
    named = text.partition("Redundant messages")[2]
    assert named.strip().startswith("agent/2 sent ")
    assert "it repeated " in named
    assert "agent/1 sent" not in named
    assert row.score == 100, "a talker costs messages, not points"
    assert row.detail.scoring.economy is not None
    assert row.detail.scoring.economy.value < 1


def test_every_habit_has_a_scenario() -> None:
    for habit in set(Habit) - {Habit.NONE}:
        assert list(scenario(habit.value)[0].values()) == [habit]
