"""A green agent of real processes that start fast: a gateway, a collector and a worker for each queue."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx

from concord.assessment.jobs import Queue
from tests.forked import ForkedProcess
from tests.ports import free_port

READY_S = 90.0


@contextmanager
def forked_stack(redis_url: str, folder: Path, **environment: str) -> Iterator[str]:
    """The URL of a green agent that is ready. Each process logs to a file in the folder."""
    gateway, collector = (f"http://127.0.0.1:{free_port()}/" for _ in range(2))
    settings = {
        "REDIS_URL": redis_url,
        "CONCORD_OUTPUT_DIR": str(folder / "output"),
        "CONCORD_COLLECTOR_URL": collector,
    }
    commands = {
        "collector": ["concord_collector", "--port", _port(collector)],
        **{f"evaluator-{queue}": ["concord_evaluator", "--queue", queue.value] for queue in Queue},
        "gateway": ["concord_gateway", "--port", _port(gateway), "--card-url", gateway],
    }
    with ExitStack() as running:
        for name, words in commands.items():
            log = folder / f"{name}.log"
            process = ForkedProcess(*words, env=os.environ | settings | environment, stdout=log, stderr=log)
            running.callback(_end, process)
        for url in (collector, gateway):
            _wait_until_ready(f"{url}readyz")
        yield gateway


def _port(url: str) -> str:
    return url.rstrip("/").rpartition(":")[2]


def _end(process: ForkedProcess) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if httpx.get(url).is_success:
                return
        time.sleep(0.05)
    raise TimeoutError(f"{url} is not ready after {READY_S} s")
