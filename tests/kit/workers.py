"""Evaluator workers in processes of their own, and the processes that they start."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from concord.assessment.jobs import Queue
from tests.kit.programs import program


@contextmanager
def worker(queue: Queue, url: str, log: Path, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker that logs to a file and is killed at the end if it still runs."""
    settings = {"REDIS_URL": url} | environment
    with program("concord_evaluator", "--queue", queue.value, log=log, **settings) as process:
        yield process


@contextmanager
def workers(redis_url: str, folder: Path, **environment: str) -> Iterator[None]:
    """A running worker for each queue."""
    with ExitStack() as running:
        for queue in Queue:
            running.enter_context(worker(queue, redis_url, folder / queue.value, **environment))
        yield


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
