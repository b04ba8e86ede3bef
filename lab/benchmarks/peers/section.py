"""Peers: other programs that do the same work, beside Concord in one run, each in an environment of its own.

A peer that cannot be installed or started is named with the reason. UES's figures stand in the environment's section.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx

from lab.benchmarks import usage
from lab.benchmarks.gateway.proxy import proxied, request_of
from lab.benchmarks.load_generator import send_all
from lab.benchmarks.peers.environments import FOLDER, NotInstalledError, python_of
from lab.benchmarks.peers.stores import MLFLOW, PHOENIX, Store, collector_rate, rate_of
from lab.benchmarks.processes import Server, redis_server, served, wait_for
from lab.benchmarks.tables import ResultTable, count
from lab.benchmarks.traces.collector import reporter_costs_us
from lab.benchmarks.traces.request_bodies import SPANS
from tests.kit.ports import free_port

PROGRAMS: Final = FOLDER / "programs"
CALLS: Final = 1_000
CALLERS: Final = (1, 16)
ROUNDS: Final = 3
_NOT_MEASURED: Final = (NotInstalledError, TimeoutError, httpx.HTTPError, subprocess.CalledProcessError, OSError)


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """One table for each kind of work."""
    return [stores_table(), _callers(), _proxies()]


def stores_table() -> ResultTable:
    """Servers that take spans."""
    own = collector_rate()
    rows = [("Concord's collector, with Redis", count(own), "1.00")]
    rows += [_measured(store.name, partial(_store, store, own)) for store in (MLFLOW, PHOENIX)]
    return ResultTable(
        "Peers: taking in spans",
        f"Spans a CPU second of the server with all of its processes: exports of {SPANS} spans in OTLP's protobuf, one "
        "after the other, each with its default database, without what it uses when idle. Concord's CPU includes that "
        "of Redis; the others have SQLite in their processes.",
        ("server", "spans/s", "ratio"),
        rows,
    )


def _callers() -> ResultTable:
    with TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        own = reporter_costs_us(redis_url)
    rows = [("Concord's TraceReporter", *(f"{cost:.1f}" for cost in own))]
    rows.append(_measured("OpenTelemetry's batch span processor", _batch_processor))
    return ResultTable(
        "Peers: a span or step in its program",
        "µs of the caller's own thread, the best of 20 rounds, for a tool's use with its arguments; and µs of CPU of "
        "the whole process, with the thread that sends.",
        ("way", "caller, µs", "whole process, µs"),
        rows,
    )


def _batch_processor() -> tuple[str, str]:
    python = python_of("opentelemetry")
    with (
        TemporaryDirectory() as folder,
        redis_server(Path(folder) / "redis") as redis_url,
        served("collector", redis_url) as server,
    ):
        command: list[str | Path] = [python, PROGRAMS / "batch_processor.py", f"{server.url}/v1/traces"]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    costs = json.loads(told)
    return f"{costs['caller']:.1f}", f"{costs['whole']:.1f}"


def _proxies() -> ResultTable:
    with TemporaryDirectory() as folder, ExitStack() as stack:
        redis_url = stack.enter_context(redis_server(Path(folder) / "redis"))
        agent, gateway = (stack.enter_context(served(name, redis_url)) for name in ("bare_agent", "gateway"))
        ways = {"Concord's gateway, each call a step in Redis": (asyncio.run(proxied(gateway, agent)), gateway.pid)}
        rows = []
        try:
            ways["a bare proxy on httpx"] = _bare_proxy(stack, python_of("proxy"), agent)
        except _NOT_MEASURED as error:
            rows.append(("a bare proxy on httpx", f"not measured: {error}", *[""] * (len(CALLERS) - 1)))
        best = {(name, callers): float("inf") for name in ways for callers in CALLERS}
        for _ in range(ROUNDS):
            for (name, callers), least in best.items():
                best[name, callers] = min(least, _cpu_ms(*ways[name], callers))
        rows[:0] = [(name, *(f"{best[name, callers]:.2f}" for callers in CALLERS)) for name in ways]
    return ResultTable(
        "Peers: a call through a proxy",
        f"ms of the proxy's CPU for `message/send` to an agent that does no work, the best of {ROUNDS} rounds of "
        f"{CALLS} calls by turns.",
        ("proxy", *(f"{callers} caller{'s' if callers > 1 else ''}, ms" for callers in CALLERS)),
        rows,
    )


def _bare_proxy(stack: ExitStack, python: Path, agent: Server) -> tuple[str, int]:
    """Starts the proxy. Returns its URL and process."""
    port = free_port()
    command: list[str | Path] = [python, PROGRAMS / "bare_proxy.py", str(port), f"{agent.url}/"]
    process = stack.enter_context(subprocess.Popen(command))
    stack.callback(process.terminate)
    url = f"http://127.0.0.1:{port}/"
    wait_for(lambda: httpx.get(url).status_code == httpx.codes.METHOD_NOT_ALLOWED)
    return url, process.pid


def _cpu_ms(url: str, pid: int, callers: int) -> float:
    requests = [request_of(url, "message/send") for _ in range(CALLS)]
    before = usage.cpu_s(pid)
    asyncio.run(send_all(url, requests, parallel=callers))
    return (usage.cpu_s(pid) - before) * 1000 / CALLS


def _store(store: Store, own: float) -> tuple[str, str]:
    rate = rate_of(store)
    return count(rate), f"{rate / own:.3f}"


def _measured(name: str, cells: Callable[[], tuple[str, str]]) -> tuple[str, str, str]:
    """The row of a peer, or why it is not measured."""
    print(f"peer: {name}", file=sys.stderr)
    try:
        return name, *cells()
    except _NOT_MEASURED as error:
        return name, f"not measured: {error}", ""
