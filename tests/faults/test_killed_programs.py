"""`concord serve` and `concord assess` while the program and its Redis are killed."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from concord.assessment.result_row import ResultRow
from tests.kit.concord import BAD, Concord, concord, row_in
from tests.kit.ports import row_of_free_ports
from tests.kit.processes import programs_with, until

RUNS = 3
LONG_PATTERN = f"""
[config]
num_runs = {RUNS}

[config.interaction_pattern]
agents = ["a", "b", "c"]
edges = [{{ from = "a", to = "b" }}, {{ from = "b", to = "c" }}, {{ from = "c", to = "a" }}]
steps_count = 3000
"""
"""A pattern, which needs no agents and keeps the evaluator busy long enough for a test to kill it."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Concord]:
    """A running `concord serve` with the bad team. Jobs of a killed worker are retried after 5 s."""
    ports = iter(row_of_free_ports(8))
    options = [f"--{name}-port={next(ports)}" for name in ("gateway", "collector", "agents")]
    folder = tmp_path_factory.mktemp("stack")
    with concord(folder, "serve", str(BAD), *options, CONCORD_JOB_TIMEOUT_FAST_S="5") as running:
        running.read_until("Press Ctrl-C to stop all programs.")
        yield running


@contextmanager
def long_assessment(stack: Concord, folder: Path) -> Iterator[Concord]:
    """A `concord assess` that has just started, with a pattern that takes the evaluator some time."""
    path = folder / "scenario.toml"
    path.write_text(f'[green_agent]\nendpoint = "{stack.addresses["gateway"]}"\n{LONG_PATTERN}')
    with concord(folder, "assess", str(path), "-o", "results.json") as asking:
        yield asking


def row_at_the_end(asking: Concord) -> ResultRow:
    assert asking.finish() == 0, asking.output
    return row_in(asking.folder / "results.json")


@pytest.fixture(scope="module")
def interrupted_assessment(stack: Concord, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Concord]:
    """A running assessment during whose evaluation the program of gateway, collector and workers was killed."""
    with redis_of(stack) as redis, long_assessment(stack, tmp_path_factory.mktemp("wounded")) as asking:
        until(lambda: any(redis.scan_iter("*in-progress*")))
        [killed] = programs_with(stack.mark, "concord_cli.program")
        os.kill(killed, signal.SIGKILL)
        stack.read_until("concord was ended by SIGKILL; starting it again")
        yield asking


def test_an_assessment_completes_after_its_program_was_killed(interrupted_assessment: Concord) -> None:
    assert row_at_the_end(interrupted_assessment).detail.scoring.usable_trials == RUNS
    assert "the connection broke: asking for task" in interrupted_assessment.output


def test_an_assessment_completes_after_its_redis_was_killed(stack: Concord, tmp_path: Path) -> None:
    with redis_of(stack) as redis, long_assessment(stack, tmp_path) as asking:
        # With `everysec`, a kill during an fsync loses acknowledged data.
        redis.config_set("appendfsync", "always")
        asking.read_until("evaluating")
        [server] = programs_with(stack.mark, "valkey-server")
        os.kill(server, signal.SIGKILL)
        row = row_at_the_end(asking)

    assert row.detail.scoring.usable_trials == RUNS


@contextmanager
def redis_of(stack: Concord) -> Iterator[Redis]:
    """A client of the stack's own Redis, with the password from its configuration."""
    [configuration] = stack.temporary.glob("*/redis/redis.conf")
    settings = dict(line.split(" ", 1) for line in configuration.read_text().splitlines())
    with Redis(settings["bind"], int(settings["port"]), password=settings["requirepass"]) as client:
        yield client
