"""`concord up` and `concord assess`: the stack as a service, with the platform's client, and with failures."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from redis import Redis

from concord.assessment.result_row import ResultRow
from tests.e2e.concord import BAD, Concord, concord, row_in
from tests.e2e.processes import programs_with, until

RUNS = 3
LONG_PATTERN = f"""
[config]
num_runs = {RUNS}

[config.interaction_pattern]
agents = ["a", "b", "c"]
edges = [{{ from = "a", to = "b" }}, {{ from = "b", to = "c" }}, {{ from = "c", to = "a" }}]
steps_count = 3000
"""
"""Needs no agents, and keeps the evaluator busy long enough to find it at work."""


def scenario(folder: Path, stack: Concord, participants: list[str], config: str) -> Path:
    """A scenario in the platform's form: the stack's green agent and some of its team."""
    lines = ["[green_agent]", f'endpoint = "{stack.addresses["gateway"]}"']
    for role in participants:
        lines += ["[[participants]]", f'role = "{role}"', f'endpoint = "{stack.addresses[role]}"']
    path = folder / "scenario.toml"
    path.write_text("\n".join([*lines, config]))
    return path


@contextmanager
def long_assessment(stack: Concord, folder: Path) -> Iterator[Concord]:
    """`concord assess` with a pattern that takes the evaluator a while, just started."""
    path = scenario(folder, stack, [], LONG_PATTERN)
    with concord(folder, "assess", str(path), "-o", "results.json") as asking:
        yield asking


def finished(asking: Concord) -> ResultRow:
    assert asking.finish() == 0, asking.output
    return row_in(asking.folder / "results.json")


@pytest.fixture(scope="module")
def wounded(stack: Concord, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Concord]:
    """An assessment that goes on although every worker was killed during its evaluation."""
    with redis_of(stack) as redis, long_assessment(stack, tmp_path_factory.mktemp("wounded")) as asking:
        until(lambda: any(redis.scan_iter("*in-progress*")))
        for worker in programs_with(stack.mark, "concord_evaluator"):
            os.kill(worker, signal.SIGKILL)
        yield asking


@pytest.fixture(scope="module")
def bad_row(stack: Concord, wounded: Concord, tmp_path_factory: pytest.TempPathFactory) -> ResultRow:
    """The bad team's row from `concord assess`, while another assessment waited for its jobs."""
    assert wounded.running
    folder = tmp_path_factory.mktemp("bad")
    team = [name for name in stack.addresses if name not in {"gateway", "collector"}]
    config = BAD.read_text().partition("[config]")
    path = scenario(folder, stack, team, "".join(config[1:]))
    with concord(folder, "assess", str(path), "-o", "results.json") as asking:
        return finished(asking)


def test_the_hub_of_a_bad_team_is_a_bottleneck(bad_row: ResultRow) -> None:
    [bottleneck] = [finding for finding in bad_row.detail.findings if finding.id == "bottleneck"]

    assert bad_row.detail.graph_metrics.has_bottleneck is True
    assert bottleneck.agents == ["coordinator"]
    assert bottleneck.advice


def test_an_agent_whom_nobody_asks_is_named_as_isolated(bad_row: ResultRow) -> None:
    [isolated] = [finding for finding in bad_row.detail.findings if finding.id == "isolated"]

    assert bad_row.detail.graph_metrics.isolated_agents == isolated.agents == ["reviewer_2"]


def test_the_gateway_keeps_the_same_result_itself(stack: Concord, bad_row: ResultRow) -> None:
    kept = stack.folder / f"output/assessments/{bad_row.detail.assessment_id}.json"

    assert row_in(kept) == bad_row


def test_a_killed_program_is_started_again(stack: Concord) -> None:
    [killed] = programs_with(stack.mark, "concord_collector")
    os.kill(killed, signal.SIGKILL)
    stack.read_until("collector was ended by SIGKILL; starting it again")

    def serves() -> bool:
        try:
            return httpx.get(f"{stack.addresses['collector']}readyz").is_success
        except httpx.TransportError:
            return False

    until(serves)
    assert programs_with(stack.mark, "concord_collector") != [killed]


def test_workers_killed_at_work_do_not_cost_the_assessment(wounded: Concord) -> None:
    assert finished(wounded).detail.scoring.usable_trials == RUNS


def test_a_redis_killed_half_way_does_not_cost_the_assessment(stack: Concord, tmp_path: Path) -> None:
    with long_assessment(stack, tmp_path) as asking:
        asking.read_until("evaluating")
        [redis] = programs_with(stack.mark, "valkey-server") or programs_with(stack.mark, "redis-server")
        os.kill(redis, signal.SIGKILL)
        row = finished(asking)

    assert row.detail.scoring.usable_trials == RUNS


@contextmanager
def redis_of(stack: Concord) -> Iterator[Redis]:
    """A client of the stack's own Redis, with the password from its folder."""
    [configuration] = stack.temporary.glob("*/redis/redis.conf")
    settings = dict(line.split(" ", 1) for line in configuration.read_text().splitlines())
    with Redis(settings["bind"], int(settings["port"]), password=settings["requirepass"]) as client:
        yield client
