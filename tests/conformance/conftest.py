"""A green agent in real processes: a gateway, a worker for each queue, and a Redis."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.forked import ForkedProcess
from tests.redis_servers import PrivateServer, free_port

READY_S = 90.0


@pytest.fixture(scope="session")
def green_agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a green agent that is ready."""
    folder = tmp_path_factory.mktemp("green")
    server = PrivateServer(folder / "redis")
    server.start()
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    environment = os.environ | {"REDIS_URL": server.url, "CONCORD_OUTPUT_DIR": str(folder / "output")}
    commands = {
        "gateway": ["concord_gateway", "--port", str(port), "--card-url", url],
        "fast": ["concord_evaluator", "--queue", "fast"],
        "llm": ["concord_evaluator", "--queue", "llm"],
    }
    with ExitStack() as running:
        running.callback(server.stop)
        for name, words in commands.items():
            log = folder / f"{name}.log"
            running.callback(_end, ForkedProcess(*words, env=environment, stdout=log, stderr=log))
        _wait_until_ready(f"{url}readyz")
        yield url


def _end(process: ForkedProcess) -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{url} is not ready after {READY_S} s")
