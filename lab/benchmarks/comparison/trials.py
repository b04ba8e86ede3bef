"""The gateway's time and CPU for a trial of an agent that does not report, beside a bare call to it."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from lab.benchmarks import usage
from lab.benchmarks.comparison.trees import Tree
from lab.benchmarks.gateway.assessments import send
from lab.benchmarks.processes import Server, redis_server, served, wait_for
from tests.kit.ports import free_port

MANY: Final = 40
"""Trials of the long assessment: the start and the end of an assessment then hardly count."""

CALLS: Final = 200
"""Calls of the SDK alone."""

SHORT: Final = 5
"""Assessments of one trial in a round."""


def trials(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
    """Assessments of one trial, and one of many, by a gateway with one worker for each queue; and the A2A SDK alone."""
    with served("plain_agent", "") as agent:
        with _gateway(tree) as (url, gateway):
            yield from asyncio.run(_measured(url, gateway, f"{agent.url}/"))
        with served("bare_caller", "") as caller:
            yield "the A2A SDK alone: CPU a call (ms)", _bare(caller, f"{agent.url}/")


def _bare(caller: Server, agent: str) -> float:
    for count in (1, CALLS):  # the first call imports
        before = caller.usage()["cpu_s"]
        answer = httpx.post(f"{caller.url}/calls", params={"agent": agent, "count": count}, timeout=600)
        answer.raise_for_status()
    return 1000 * (caller.usage()["cpu_s"] - before) / CALLS


async def _measured(url: str, gateway: int, agent: str) -> list[tuple[str, float]]:
    tasks: list[dict[str, Any]] = [{"id": f"task-{number}", "text": "Answer."} for number in range(MANY)]
    async with httpx.AsyncClient(timeout=600) as http:
        await send(http, url, {"task": "Answer."}, {"agent": agent})  # imports, and fills its caches
        short = []
        for _ in range(SHORT):
            began = time.perf_counter()
            await send(http, url, {"task": "Answer."}, {"agent": agent})
            short.append(time.perf_counter() - began)
        before, began = usage.cpu_s(gateway), time.perf_counter()
        await send(http, url, {"tasks": tasks}, {"agent": agent})
        took_s, cpu_s = time.perf_counter() - began, usage.cpu_s(gateway) - before
    return [
        ("an assessment of one trial, p50 (ms)", 1000 * median(short)),
        (f"an assessment of {MANY} trials (s)", took_s),
        ("gateway: CPU a trial (ms)", 1000 * cpu_s / MANY),
    ]


@contextmanager
def _gateway(tree: Tree) -> Iterator[tuple[str, int]]:
    """A gateway and its workers, with a Redis of their own. Yields the gateway's URL and process."""
    port = free_port()
    with TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url, ExitStack() as running:
        settings = {"REDIS_URL": redis_url, "CONCORD_OUTPUT_DIR": f"{folder}/output"}
        programs = (
            ("concord_gateway", "--host", "127.0.0.1", "--port", str(port)),
            ("concord_evaluator", "--queue", "fast"),
            ("concord_evaluator", "--queue", "llm"),
        )
        gateway, *_ = [running.enter_context(tree.running(words, settings)).pid for words in programs]
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: httpx.get(f"{url}.well-known/agent-card.json").is_success)
        yield url, gateway
