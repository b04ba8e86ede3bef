"""Starts what benchmarks measure: Redis, and the servers of `lab.benchmarks.servers`, each in a process of its own."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.kit.ports import free_port
from tests.kit.redis_servers import PrivateServer


@dataclass(frozen=True, slots=True)
class Server:
    """A server to measure, and its Redis."""

    url: str
    redis_url: str
    pid: int

    def usage(self) -> dict[str, float]:
        """What the server has used so far (see `lab.benchmarks.servers.usage`)."""
        reported: dict[str, float] = httpx.get(f"{self.url}/usage").json()
        return reported


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Starts a Redis with AOF, as the stack runs it, and yields its URL."""
    server = PrivateServer(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@contextmanager
def served(name: str, redis_url: str) -> Iterator[Server]:
    """Starts one of the servers of `lab.benchmarks.servers` in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "lab.benchmarks.servers", name, str(port), redis_url]
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(command))
        stack.callback(process.terminate)
        server = Server(f"http://127.0.0.1:{port}", redis_url, process.pid)
        wait_for(lambda: httpx.get(f"{server.url}/usage").is_success)
        yield server


def wait_for(condition: Callable[[], bool], timeout_s: float = 120) -> None:
    """Waits until the condition holds; it may query a server that does not listen yet. Raises TimeoutError."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(f"no answer within {timeout_s:g} s")
