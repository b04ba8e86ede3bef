"""Stores of spans that take OTLP in protobuf, as Concord's collector does: each server's spans a CPU second."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
import redis

from lab.benchmarks import usage
from lab.benchmarks.peers.environments import python_of
from lab.benchmarks.processes import redis_server, served, wait_for
from lab.benchmarks.traces.collector import redis_cpu_s
from lab.benchmarks.traces.request_bodies import SPANS, exports
from tests.kit.ports import free_port

START_S: Final = 300
"""How long a server may take to start."""

SETTLED_S: Final = 3.0
SETTLE_LIMIT_S: Final = 30.0
"""A server works on what it took until it uses no more CPU than before, for so long; it gets at most the limit."""


@dataclass(frozen=True, slots=True)
class Store:
    """A server: the words after its interpreter, its settings, and the path that answers once it is ready.

    `{port}`, `{grpc}` and `{folder}` in words and settings are replaced. `exports`: how many it gets.
    """

    name: str
    words: Sequence[str]
    ready: str
    exports: int
    settings: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


MLFLOW: Final = Store(
    "mlflow",
    [
        *("-m", "mlflow", "server", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
        *("--backend-store-uri", "sqlite:///{folder}/mlflow.db", "--default-artifact-root", "{folder}/artifacts"),
    ],
    "/health",
    exports=3,
    settings={"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
    headers={"x-mlflow-experiment-id": "0"},
)
PHOENIX: Final = Store(
    "phoenix",
    ["-m", "phoenix.server.main", "serve"],
    "/healthz",
    exports=2,
    settings={
        "PHOENIX_WORKING_DIR": "{folder}",
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": "{port}",
        "PHOENIX_GRPC_PORT": "{grpc}",
        "PHOENIX_TELEMETRY_ENABLED": "false",
    },
)


def rate_of(store: Store) -> float:
    """Spans a CPU second of a store with its default database. Raises NotInstalledError, TimeoutError, HTTPError."""
    with _serving(store, python_of(store.name)) as (url, pid):
        return _rate(url, lambda: usage.cpu_s(pid), store.exports, store.headers)


def collector_rate() -> float:
    """The same of Concord's collector."""
    with (
        TemporaryDirectory() as folder,
        redis_server(Path(folder) / "redis") as redis_url,
        served("collector", redis_url) as server,
        redis.Redis.from_url(redis_url) as client,
    ):
        return _rate(server.url, lambda: usage.cpu_s(server.pid) + redis_cpu_s(client), 30, {})


def _rate(url: str, cpu_s: Callable[[], float], number: int, headers: Mapping[str, str]) -> float:
    """Spans a CPU second, without what the server uses when nobody asks it."""
    bodies = [export.SerializeToString() for export in exports(number + 1)]
    sent = {"content-type": "application/x-protobuf", **headers}
    with httpx.Client(timeout=120) as http:
        http.post(f"{url}/v1/traces", content=bodies[0], headers=sent).raise_for_status()
        idle = _settled(cpu_s)
        began, before = time.monotonic(), cpu_s()
        for body in bodies[1:]:
            http.post(f"{url}/v1/traces", content=body, headers=sent).raise_for_status()
        _settled(cpu_s, idle)
        used = cpu_s() - before - idle * (time.monotonic() - began)
    return number * SPANS / used


def _settled(cpu_s: Callable[[], float], idle: float = 0.0) -> float:
    """Waits until a server has done what it had to do in the background. Returns the CPU that it then uses a second."""
    deadline = time.monotonic() + SETTLE_LIMIT_S
    while True:
        before = cpu_s()
        time.sleep(SETTLED_S)
        used = (cpu_s() - before) / SETTLED_S
        if used < idle + 0.05 or time.monotonic() > deadline:
            return used


@contextmanager
def _serving(store: Store, python: Path) -> Iterator[tuple[str, int]]:
    """Starts a store. Yields its URL and its process."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        places = {"port": str(free_port()), "grpc": str(free_port()), "folder": folder}
        settings = {name: value.format(**places) for name, value in store.settings.items()}
        process = stack.enter_context(
            subprocess.Popen(
                [python, *(word.format(**places) for word in store.words)],
                cwd=folder,
                env={**os.environ, **settings},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        stack.callback(process.terminate)
        url = f"http://127.0.0.1:{places['port']}"
        wait_for(lambda: httpx.get(url + store.ready).is_success, timeout_s=START_S)
        yield url, process.pid
