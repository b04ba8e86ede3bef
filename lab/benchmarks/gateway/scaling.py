"""The cost of assessments, trials and steps, by service: the measured input of the model in docs/scaling.md."""

import asyncio
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import redis

from concord.storage.connection import Storage, connect
from concord.task_records import TaskDraft
from lab.benchmarks import usage
from lab.benchmarks.gateway.assessments import GreenAgent, assess, green_agent
from lab.benchmarks.tables import ResultTable

KEEP_S: Final = 3600
"""The default time for which Redis keeps ended assessments."""

TRIALS: Final = 11
STEPS: Final = 1003
_EDGES: Final = [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}, {"from": "C", "to": "A"}]

IDLE_S: Final = 10.0
RUNNING: Final = (100, 1000, 4000)
SEARCHES: Final = 50
"""The numbers of running tasks, and how often each number is searched for abandoned tasks."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU by process, bytes in Redis, and seconds by the clock."""

    cpu_s: Mapping[str, float]
    redis_bytes: float
    clock_s: float

    def less(self, other: "Cost", times: float = 1) -> "Cost":
        """This cost without `times` another."""
        cpu_s = {name: value - times * other.cpu_s[name] for name, value in self.cpu_s.items()}
        return Cost(cpu_s, self.redis_bytes - times * other.redis_bytes, self.clock_s - times * other.clock_s)

    def part(self, parts: float) -> "Cost":
        """One of so many equal parts of this cost."""
        cpu_s = {name: value / parts for name, value in self.cpu_s.items()}
        return Cost(cpu_s, self.redis_bytes / parts, self.clock_s / parts)


def measure(*, soak_s: float) -> list[ResultTable]:
    """The costs. `soak_s` determines the number of assessments: one of each kind per second."""
    with tempfile.TemporaryDirectory() as folder, green_agent(Path(folder), KEEP_S) as agent:
        return [asyncio.run(_measured(agent, max(4, int(soak_s)))), asyncio.run(_searches(agent.redis_url))]


async def _measured(agent: GreenAgent, count: int) -> ResultTable:
    pattern = {"agents": ["A", "B", "C"], "edges": _EDGES}
    short = {"interaction_pattern": pattern}
    many = {"tasks": [{"id": f"t{number}", "interaction_pattern": pattern} for number in range(TRIALS)]}
    long = {"interaction_pattern": pattern | {"steps_count": STEPS}}
    async with httpx.AsyncClient(timeout=600) as http:
        for config in (short, many, long):
            await _run(http, agent, config, 2)
        before = _used(agent)
        await asyncio.sleep(IDLE_S)
        idle = _used(agent).less(before).part(IDLE_S)
        of_short, of_many, of_long = [await _cost_of(http, agent, each, count, idle) for each in (short, many, long)]
    trial = of_many.less(of_short).part(TRIALS - 1)
    step = of_long.less(of_short).part(STEPS - len(_EDGES))
    assessment = of_short.less(trial)
    return _table(count, idle, assessment, trial.less(step, len(_EDGES)), step)


async def _cost_of(http: httpx.AsyncClient, agent: GreenAgent, config: dict[str, Any], count: int, idle: Cost) -> Cost:
    """The mean cost of `count` assessments, without the idle cost of their duration."""
    before = _used(agent)
    await _run(http, agent, config, count)
    used = _used(agent).less(before)
    return used.less(idle, used.clock_s).part(count)


async def _run(http: httpx.AsyncClient, agent: GreenAgent, config: dict[str, Any], count: int) -> None:
    for _ in range(count):
        await assess(http, agent, config, {})


def _used(agent: GreenAgent) -> Cost:
    with redis.Redis.from_url(agent.redis_url) as client:
        cpu = client.info("cpu")
        stored = sum(client.memory_usage(name, samples=0) or 0 for name in client.scan_iter(count=1000))
    cpu_s = {name: usage.cpu_s(pid) for name, pid in agent.processes.items()}
    cpu_s["Redis"] = cpu["used_cpu_user"] + cpu["used_cpu_sys"]
    return Cost(cpu_s, stored, time.monotonic())


async def _searches(url: str) -> ResultTable:
    """The cost of a gateway's search for abandoned tasks, among tasks that other gateways run."""
    rows, stored = [], 0
    async with connect(url) as storage:
        here, there = (storage.tasks(lease_s=KEEP_S, keep_s=KEEP_S) for _ in range(2))
        for running in RUNNING:
            while stored < running:
                await here.save(TaskDraft(f"task-{stored}", "owner", b"head", b"body", b"request"), 0)
                stored += 1
            before = await _redis_cpu_s(storage)
            for _ in range(SEARCHES):
                await there.adopt()
            cpu_ms = 1000 * (await _redis_cpu_s(storage) - before) / SEARCHES
            rows.append((f"{running:,}", f"{cpu_ms:.2g}", f"{1000 * cpu_ms / running:.2g}"))
    return ResultTable(
        "Search for abandoned tasks",
        "CPU of Redis for one search of a gateway for tasks whose lease has expired, when there are none.",
        ("running tasks", "ms per search", "µs per task"),
        rows,
    )


async def _redis_cpu_s(storage: Storage) -> float:
    cpu = await storage.redis.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def _table(count: int, idle: Cost, assessment: Cost, trial: Cost, step: Cost) -> ResultTable:
    costs = (idle, assessment, trial, step)
    rows = [
        (f"{name}, ms of CPU", *(_figure(1000 * cost.cpu_s[name]) for cost in costs)) for name in sorted(idle.cpu_s)
    ]
    return ResultTable(
        "Costs of assessments, by service",
        f"Given patterns: {count} assessments of one trial, {count} of {TRIALS} trials, and {count} of one trial of "
        f"{STEPS} steps, one after the other. The costs are the differences between these assessments, without the "
        "idle cost of their duration. The cost of an assessment excludes its trials, and the cost of a trial excludes "
        "its steps. A trial is two jobs, and an assessment is one more. No language model judges. The bytes are those "
        "of the keys, as long as Redis keeps them.",
        ("", "per idle second", "per assessment", "per trial", "per step"),
        [*rows, ("bytes in Redis", "-", *(f"{cost.redis_bytes:,.0f}" for cost in costs[1:]))],
    )


def _figure(value: float) -> str:
    """The value with two significant digits; noise below zero is 0."""
    return f"{max(0.0, value):.2g}"
