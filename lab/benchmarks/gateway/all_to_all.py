"""A large team in which every seat writes to all others in every round: the whole assessment, and its row."""

import asyncio
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx
import redis

from lab.benchmarks import usage
from lab.benchmarks.gateway.assessments import GreenAgent, green_agent, send
from lab.benchmarks.processes import Server, served
from lab.benchmarks.tables import ResultTable

SEATS: Final = 100
ROUNDS: Final = 4
MESSAGES: Final = SEATS * (SEATS - 1) * ROUNDS
REPETITIONS: Final = 3
KEEP_S: Final = 3600
_CONFIG: Final[dict[str, Any]] = {
    "exchange": "rounds",
    "tasks": [
        {"id": "t", "family": {"name": "maximum", "seats": SEATS, "topology": "complete", "max_rounds": ROUNDS}},
    ],
}


@dataclass(frozen=True, slots=True)
class _Cost:
    """Seconds by the clock, CPU seconds by part, and bytes of the row as JSON."""

    seconds: float
    cpu_s: Mapping[str, float]
    row_bytes: int


def measure() -> ResultTable:
    """What such an assessment takes, from its message to its row."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served("talking_agent", "") as agent,
        green_agent(Path(folder), KEEP_S) as green,
    ):
        costs = asyncio.run(_repeated(green, agent))
    parts = list(costs[0].cpu_s)
    return ResultTable(
        f"{SEATS} seats, complete, {MESSAGES:,} messages",
        "An assessment of one trial from its message to its row: one agent on the A2A SDK takes all seats, each of "
        f"which writes to all others in each of {ROUNDS} rounds. All processes share the machine. The median of "
        f"{REPETITIONS}, after one that is not counted.",
        ("seconds", *(f"{part}: CPU, s" for part in parts), "row, MB"),
        [
            (
                f"{median(cost.seconds for cost in costs):.2f}",
                *(f"{median(cost.cpu_s[part] for cost in costs):.2f}" for part in parts),
                f"{median(cost.row_bytes for cost in costs) / 1e6:.2f}",
            )
        ],
    )


async def _repeated(green: GreenAgent, agent: Server) -> list[_Cost]:
    async with httpx.AsyncClient(timeout=600) as http:
        return [await _cost(http, green, agent) for _ in range(1 + REPETITIONS)][1:]


async def _cost(http: httpx.AsyncClient, green: GreenAgent, agent: Server) -> _Cost:
    before, began = _cpu_s(green, agent), time.perf_counter()
    row = await send(http, green.url, _CONFIG, {"agent": f"{agent.url}/"})
    seconds, after = time.perf_counter() - began, _cpu_s(green, agent)
    observed = row["detail"]["trials"][0]["trace_integrity"]["observed"]
    assert observed == MESSAGES, observed
    size = len(json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode())
    return _Cost(seconds, {part: after[part] - before[part] for part in after}, size)


def _cpu_s(green: GreenAgent, agent: Server) -> dict[str, float]:
    with redis.Redis.from_url(green.redis_url) as client:
        cpu = client.info("cpu")
    return {
        **{name: usage.cpu_s(pid) for name, pid in green.processes.items()},
        "Redis": cpu["used_cpu_user"] + cpu["used_cpu_sys"],
        "agent": usage.cpu_s(agent.pid),
    }
