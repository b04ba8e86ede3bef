"""Metrics of failures: what services count when jobs, programs and environments fail."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping

import pytest
from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from concord.assessment.jobs import Job, Queue
from concord.storage import JobFunction, RetryLater
from concord.storage.connection import connect, run_worker
from concord.storage.job_policy import WorkerPolicy
from concord_collector.metrics import Metrics
from concord_evaluator.work import WorkerInstruments
from concord_gateway.assistants import AssistantContexts
from concord_gateway.instruments import Instruments
from tests.kit.environment_stand_in import STAND_IN
from tests.kit.serving import eventually


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


async def complete(_: Mapping[str, JsonValue]) -> None:
    pass


async def break_down(_: Mapping[str, JsonValue]) -> None:
    raise ValueError("broken")


async def be_busy(_: Mapping[str, JsonValue]) -> None:
    raise RetryLater("busy")


@pytest.mark.parametrize(
    ("function", "attempts"),
    [
        (complete, {"completed": 1, "retried": 0, "failed": 0}),
        (break_down, {"completed": 0, "retried": 0, "failed": 1}),
        (be_busy, {"completed": 0, "retried": 1, "failed": 1}),
    ],
)
async def test_a_worker_counts_every_attempt_by_its_outcome(
    redis_url: str, function: JobFunction, attempts: dict[str, int]
) -> None:
    instruments, stop = WorkerInstruments(Queue.FAST), asyncio.Event()

    async def bury(_: Job, __: str, ___: Exception | None) -> None:
        stop.set()

    def count(name: str, outcome: str, seconds: float) -> None:
        instruments.count_attempt(Queue.FAST, name, outcome, seconds)  # type: ignore[arg-type]  # the worker's own words
        if outcome == "completed":
            stop.set()

    policy = WorkerPolicy(timeout_s=60, max_tries=2, poll_s=0.02, backoff_cap_s=0.02)
    async with connect(redis_url) as storage:
        await storage.jobs.enqueue(Job("evaluate_trial", "job", Queue.FAST, {}))
    functions = {"evaluate_trial": function}
    async with asyncio.timeout(60):
        await run_worker(redis_url, Queue.FAST, functions, policy, bury, stop=stop, on_attempt=count)
    counted = {
        outcome: value(
            instruments.registry,
            "concord_evaluator_jobs_total",
            queue="fast",
            function="evaluate_trial",
            outcome=outcome,
        )
        for outcome in attempts
    }
    assert counted == attempts


async def test_a_collector_without_redis_exports_no_other_figure_of_redis() -> None:
    metrics = Metrics()
    assert [metric.name for metric in metrics.storage.collect()] == ["concord_redis_up"]
    assert value(metrics.registry, "concord_redis_up") == 0


async def test_environments_that_start_end_by_themselves_and_cannot_start_are_counted() -> None:
    instruments = Instruments()
    async with AssistantContexts(
        "http://gateway/",
        max_environments=1,
        idle_s=60,
        environment_command=(sys.executable, "-c", STAND_IN),
        instruments=instruments,
    ) as contexts:
        async with contexts.agent("one") as agent:
            assert value(instruments.registry, "concord_gateway_environments") == 1
            assert agent.server.pid is not None
            os.killpg(agent.server.pid, signal.SIGKILL)
            await eventually(lambda: agent.server.failure is not None)
        async with contexts.agent("one"):
            pass
    assert value(instruments.registry, "concord_gateway_environments_lost_total") == 1
    assert value(instruments.registry, "concord_gateway_environment_starts_total", outcome="started") == 2
    assert value(instruments.registry, "concord_gateway_environments") == 0
