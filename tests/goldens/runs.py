"""The rows of shipped scenarios, example teams and cheats keep their values, apart from times and identifiers."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

import pytest
from pydantic import JsonValue, SecretStr

from concord.assessment.result_row import ResultRow
from concord_cli.assessment_client import assess
from concord_suites.agent import handler
from examples.teams.catalogue import TEAMS
from tests.goldens.golden import check
from tests.integration.shipped_teams import row_of
from tests.integration.test_example_teams import serve
from tests.integration.test_habit_scenarios import CLOSING, scenario
from tests.kit.serving import served_agent
from tests.kit.stack import Stack, stack
from tests.kit.team_runs import CODE
from tests.kit.team_runs import row_of as example_row

pytestmark = pytest.mark.usefixtures("anyio_backend")

SECRET = SecretStr("5e" * 32)
"""Decides the generated tasks, which are new in every run otherwise."""

SCENARIOS = ["quick", "withholding", "distorting", "forgetful", "chattering"]
TEAMS_OF_PROGRAMS = ["mesh", "chain", "hub_spoke", "bad", "forging"]
EXAMPLES = sorted(set(TEAMS) - {"crash"})  # its member ends the process
CALLS = "withholding-by-calls"

OF_TIME = {
    *("assessment_id", "trace_id", "step_id", "parent_step_id", "step_ids", "steps", "url", "slowest_agent_url"),
    *(
        "started_at",
        "time_used",
        "seconds",
        "start_ms",
        "duration_ms",
        "time_ms",
        "latency_ms",
        "latency_avg_ms",
        "latency",
    ),
    *("latency_metrics", "slowest_agent", "on_critical_path", "reading", "bundle_sha256", "answered", "plan_sha256"),
}
"""Keys of times and identifiers, which are new in every run, and of what follows from them."""
TIMED_METRICS = {
    *("critical_path_ms", "critical_path_share", "handover_of_work", "handover_ratio", "information_diversity"),
    *("parallelism", "unnecessary_path_ratio"),
}
"""Metrics that depend on times, or on the order of concurrent calls."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:[^\s\"']*")
STEP = re.compile(r"\b(step|steps) [0-9a-f]{16}\b")


async def team_task(services: Stack, name: str, **config: object) -> ResultRow:
    habits, settings = scenario(name)
    async with served_agent(handler(habits)) as agent:
        [row] = await assess(services.gateway, {"agent": agent}, settings | CLOSING | config, lambda _: None)
    return ResultRow.model_validate(row)


async def example(services: Stack, name: str) -> ResultRow:
    async with AsyncExitStack() as running:
        return await example_row(services.gateway, await serve(name, running), CODE)


@pytest.fixture(scope="module")
async def rows(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Mapping[str, ResultRow]]:
    """The rows of assessments that run at the same time."""
    async with stack(redis_server, tmp_path_factory.mktemp("goldens"), task_secret=SECRET) as services:
        runs = {name: team_task(services, name) for name in SCENARIOS}
        runs[CALLS] = team_task(services, "withholding", exchange="calls")
        runs |= {name: row_of(name, services.gateway) for name in TEAMS_OF_PROGRAMS}
        runs |= {f"example-{name}": example(services, name) for name in EXAMPLES}
        yield dict(zip(runs, await asyncio.gather(*runs.values()), strict=True))


def without_times(value: JsonValue) -> JsonValue:
    """A value without times, identifiers and the order of concurrent calls."""
    if isinstance(value, list):
        return [without_times(each) for each in value]
    if isinstance(value, str):
        return ADDRESS.sub("…", STEP.sub(r"\1 …", value))
    if not isinstance(value, dict):
        return value
    if value.get("id") in TIMED_METRICS:
        return {"id": value["id"]}
    kept = {key: without_times(each) for key, each in value.items() if key not in OF_TIME}
    calls = kept.get("calls")
    if isinstance(calls, list):
        kept["calls"] = sorted(calls, key=json.dumps)
    said = kept.get("said")
    if isinstance(said, list):
        kept["said"] = sorted(said, key=json.dumps)
    return kept


@pytest.mark.parametrize("name", [*SCENARIOS, CALLS, *TEAMS_OF_PROGRAMS, *(f"example-{name}" for name in EXAMPLES)])
def test_the_row_of_a_run_keeps_its_values(name: str, rows: Mapping[str, ResultRow]) -> None:
    check(f"runs/{name}", without_times(rows[name].model_dump(mode="json")))
