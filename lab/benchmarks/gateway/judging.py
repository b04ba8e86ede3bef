"""Assessments a minute, many at once, with one worker and with two, and a judge that computes in the worker.

A language model computes elsewhere: only what computes in a worker shows whether a second worker helps.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import httpx
import redis
from arq.connections import RedisSettings, create_pool

from lab.benchmarks import usage
from lab.benchmarks.gateway.assessments import send
from lab.benchmarks.gateway.computing_judge import CPU_S, JOB, NAME, install
from lab.benchmarks.processes import redis_server, served, wait_for
from lab.benchmarks.tables import ResultTable
from tests.kit.ports import free_port

AT_ONCE: Final = 16
"""The default of CONCORD_MAX_ASSESSMENTS."""

WARM_UP: Final = 32
"""Assessments that are not counted: those in which the processes start and import."""

COUNTED: Final = 160
JOBS: Final = 160
WORKERS: Final = (1, 2)
ROUNDS: Final = 3
_TASKS: Final = [{"id": "task", "text": "Answer.", "target": "Done.", "scorer": NAME}]


@dataclass(frozen=True, slots=True)
class _Rate:
    """Assessments or jobs a minute, and the CPU that each took, by part (ms)."""

    a_minute: float
    cpu_ms: Mapping[str, float]


def measure() -> ResultTable:
    """What a second worker adds, beside what it adds to bare jobs of the same work."""
    assessed: dict[int, list[_Rate]] = {workers: [] for workers in WORKERS}
    bare: dict[int, list[_Rate]] = {workers: [] for workers in WORKERS}
    for _ in range(ROUNDS):
        for workers in WORKERS:
            assessed[workers].append(_assessments(workers))
            bare[workers].append(_bare_jobs(workers))
    parts = assessed[1][0].cpu_ms
    return ResultTable(
        f"Assessments a minute with a judge that takes {1000 * CPU_S:.0f} ms of CPU",
        f"{AT_ONCE} assessments of one trial at once, {COUNTED} in all, of an agent that answers immediately. The "
        "judge is a package's scorer: it computes in the worker's process of the pool, of which each worker has one. "
        f"Bare jobs are {JOBS} jobs of arq that do the judge's work and nothing else: what two workers can show here "
        f"at most. Numbers of workers by turns, medians of {ROUNDS}. All processes share {os.cpu_count()} cores: the "
        "rows below tell what an assessment takes from them.",
        ("", *(f"{workers} worker{'s' * (workers > 1)}" for workers in WORKERS), "ratio"),
        [
            ("assessments a minute", *_cells([_median(assessed[workers]) for workers in WORKERS], 0)),
            ("bare jobs a minute", *_cells([_median(bare[workers]) for workers in WORKERS], 0)),
            *(
                (
                    f"{part}: ms of CPU an assessment",
                    *_cells([median(rate.cpu_ms[part] for rate in assessed[workers]) for workers in WORKERS], 1),
                )
                for part in parts
            ),
        ],
    )


def _median(rates: list[_Rate]) -> float:
    return median(rate.a_minute for rate in rates)


def _cells(values: list[float], digits: int) -> list[str]:
    return [*(f"{value:,.{digits}f}" for value in values), f"{values[-1] / values[0]:.2f}"]


def _assessments(workers: int) -> _Rate:
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        install(Path(folder) / "site")
        environment = {
            "REDIS_URL": redis_url,
            "CONCORD_OUTPUT_DIR": f"{folder}/output",
            "CONCORD_LOG_LEVEL": "ERROR",
            "CONCORD_POOL_PROCESSES": "1",
            "PYTHONPATH": os.pathsep.join((f"{folder}/site", str(Path.cwd()))),
        }
        port = free_port()
        started = ("concord_gateway", "--host", "127.0.0.1", "--port", str(port))
        fast, llm = (("concord_evaluator", "--queue", queue) for queue in ("fast", "llm"))
        with served("plain_agent", "") as agent, _running([started, llm, *[fast] * workers], environment) as pids:
            url = f"http://127.0.0.1:{port}/"
            wait_for(lambda: httpx.get(f"{url}.well-known/agent-card.json").is_success)
            gateway, _, *working = pids

            def used() -> dict[str, float]:
                with redis.Redis.from_url(redis_url) as client:
                    cpu = client.info("cpu")
                own = resource.getrusage(resource.RUSAGE_SELF)
                return {
                    "workers": sum(map(usage.cpu_s, working)),
                    "gateway": usage.cpu_s(gateway),
                    "Redis": cpu["used_cpu_user"] + cpu["used_cpu_sys"],
                    "agent and client": usage.cpu_s(agent.pid) + own.ru_utime + own.ru_stime,
                }

            asyncio.run(_send(url, f"{agent.url}/", WARM_UP))
            before, began = used(), time.perf_counter()
            asyncio.run(_send(url, f"{agent.url}/", COUNTED))
            took_s, after = time.perf_counter() - began, used()
    cpu_ms = {part: 1000 * (after[part] - before[part]) / COUNTED for part in after}
    assert cpu_ms["workers"] >= 1000 * CPU_S
    return _Rate(60 * COUNTED / took_s, cpu_ms)


async def _send(url: str, agent: str, count: int) -> None:
    """Sends `count` assessments, `AT_ONCE` at a time."""
    left = iter(range(count))

    async def one_after_the_other(http: httpx.AsyncClient) -> None:
        for _ in left:
            await send(http, url, {"tasks": _TASKS}, {"agent": agent})

    async with httpx.AsyncClient(timeout=600) as http:
        await asyncio.gather(*(one_after_the_other(http) for _ in range(AT_ONCE)))


def _bare_jobs(workers: int) -> _Rate:
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        commands: list[tuple[str, ...]] = [("lab.benchmarks.gateway.computing_judge", redis_url)] * workers
        with _running(commands, {}):
            asyncio.run(_drained(redis_url, workers * 4))  # until each has started
            began = time.perf_counter()
            asyncio.run(_drained(redis_url, JOBS))
            return _Rate(60 * JOBS / (time.perf_counter() - began), {})


async def _drained(redis_url: str, jobs: int) -> None:
    pool = await create_pool(RedisSettings.from_dsn(redis_url))
    queued = [await pool.enqueue_job(JOB) for _ in range(jobs)]
    for job in queued:
        assert job is not None
        await job.result(poll_delay=0.005)
    await pool.aclose()


@contextmanager
def _running(commands: list[tuple[str, ...]], variables: Mapping[str, str]) -> Iterator[list[int]]:
    with ExitStack() as stack:
        pids = []
        for words in commands:
            process = stack.enter_context(subprocess.Popen([sys.executable, "-m", *words], env=os.environ | variables))
            stack.callback(process.terminate)
            pids.append(process.pid)
        yield pids
