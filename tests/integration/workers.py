"""Evaluator workers in processes of their own, and the processes that they start."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from concord.assessment.jobs import Queue
from tests.forked import ForkedProcess


@contextmanager
def worker(queue: Queue, url: str, log: Path, **environment: str) -> Iterator[ForkedProcess]:
    """A worker that logs to a file and is killed at the end if it still runs."""
    variables = os.environ | {"REDIS_URL": url} | environment
    process = ForkedProcess("concord_evaluator", "--queue", queue.value, env=variables, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def alive(pids: list[int]) -> list[int]:
    """Those of the processes that still run; zombies do not count."""
    return [pid for pid in pids if (state := _stat(pid)) is not None and state[0] != "Z"]


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    stats = {int(path.name): stat for path in Path("/proc").glob("[0-9]*") if (stat := _stat(int(path.name)))}
    return [child for child, stat in stats.items() if int(stat[1]) == pid]


async def gone(pids: list[int]) -> None:
    """Waits until none of the processes runs."""
    async with asyncio.timeout(60):
        while alive(pids):
            await asyncio.sleep(0.05)


def _stat(pid: int) -> list[str] | None:
    """The fields of a process's status from the state on (see proc(5)); None if the process does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
