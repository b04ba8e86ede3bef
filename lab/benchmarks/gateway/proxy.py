"""The proxy: the latency that it adds to a call, and the delay of events with two hundred streams at once."""

import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import SecretStr

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.storage.connection import connect
from concord.trust.proxy_urls import proxy_url
from concord.trust.tokens import Claims, TokenIssuer, parse_secrets
from concord.wire.assignment import ASSIGNMENT_URI, Assignment
from concord.wire.roster import RosterEntry, new_step_id, new_trace_id
from lab.benchmarks.load_generator import request
from lab.benchmarks.processes import Server, redis_server, served
from lab.benchmarks.servers import TOKEN_SECRET
from lab.benchmarks.tables import ResultTable

CALLS: Final = 400
STREAMS: Final = 200
JSON: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
ASSIGNMENT: Final = Assignment(
    assessment_id=new_trace_id(),
    trace_id=new_trace_id(),
    step_id=new_step_id(),
    agent_id="callee",
    collector_url="http://collector:9010",
    peers_url="http://collector:9010/peers",
    token=SecretStr("t" * 280),
)
"""Every message carries one, so that direct and proxied messages are the same."""


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """All figures of the proxy."""
    with (
        tempfile.TemporaryDirectory() as folder,
        redis_server(Path(folder) / "redis") as redis_url,
        served("gateway", redis_url) as gateway,
        served("echo_agent", redis_url) as echo,
        served("bare_agent", redis_url) as bare,
    ):
        return asyncio.run(_measured(gateway, echo, bare))


async def _measured(gateway: Server, echo: Server, bare: Server) -> list[ResultTable]:
    through = await _addresses(gateway, {"caller": echo.url, "echo": echo.url, "bare": bare.url})
    calls = [
        ("SDK agent, message/send", "message/send", f"{echo.url}/", through["echo"]),
        ("SDK agent, message/stream", "message/stream", f"{echo.url}/", through["echo"]),
        ("agent that does no work, message/send", "message/send", f"{bare.url}/", through["bare"]),
    ]
    before = gateway.usage()["cpu_s"]
    rows = [[name, *await _compared(method, direct, carried)] for name, method, direct, carried in calls]
    cpu_ms = (gateway.usage()["cpu_s"] - before) * 1000 / (CALLS * len(calls))
    return [
        ResultTable(
            "Latency of a call through the proxy",
            f"Milliseconds from request to the end of the answer; one caller, {CALLS} calls of each kind, one way "
            f"and the other by turns. The proxy takes {cpu_ms:.1f} ms of CPU a call, its step in Redis included.",
            ("Callee", "direct, p50", "proxy, p50", "added", "ratio", "direct, p99", "proxy, p99"),
            rows,
        ),
        ResultTable(
            f"{STREAMS} streams at once",
            "Milliseconds from an agent's event to its arrival at the caller, with four events per second and stream.",
            ("Way", "events", "p50", "p99"),
            [await _streamed("direct", f"{bare.url}/"), await _streamed("through the proxy", through["bare"])],
        ),
    ]


async def proxied(gateway: Server, agent: Server) -> str:
    """The URL at which an agent reaches another one through the gateway."""
    return (await _addresses(gateway, {"caller": agent.url, "callee": agent.url}))["callee"]


async def _addresses(gateway: Server, roster: dict[str, str]) -> dict[str, str]:
    """Plans an assessment of these agents; returns the proxy URLs at which the first agent reaches the others."""
    tasks = [TaskSpec(id="t", text="t")]
    plan = AssessmentPlan(
        assessment_id=new_trace_id(),
        mode=Mode.LIVE,
        config=AssessmentConfig(),
        tasks=tasks,
        roster=[RosterEntry(id=name, url=f"{url}/") for name, url in roster.items()],
        trials=plan_trials(AssessmentConfig(), tasks),
        observed=True,
    )
    async with connect(gateway.redis_url) as storage:
        await storage.assessments.save_plan(plan)
    claims = Claims(plan.assessment_id, plan.trials[0].trace_id, next(iter(roster)), time.time() + 3600)
    token = TokenIssuer(parse_secrets(TOKEN_SECRET)).issue(claims).get_secret_value()
    return {name: proxy_url(gateway.url, name, token) for name in roster}


async def _compared(method: str, direct: str, carried: str) -> Sequence[str]:
    ways: dict[str, list[float]] = {direct: [], carried: []}
    connections = {url: await _open(url) for url in ways}
    for number in range(CALLS + 20):
        for url, took in ways.items():
            prepared = request_of(url, method)
            started = time.perf_counter()
            await _exchange(*connections[url], prepared)
            if number >= 20:
                took.append((time.perf_counter() - started) * 1000)
    for _, writer in connections.values():
        writer.close()
    fifty, ninety_nine = ([_quantile(took, q) for took in ways.values()] for q in (50, 99))
    return [
        *(f"{value:.2f}" for value in fifty),
        f"{fifty[1] - fifty[0]:.2f}",
        f"{fifty[1] / fifty[0]:.2f}",
        *(f"{value:.2f}" for value in ninety_nine),
    ]


async def _open(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = httpx.URL(url)
    return await asyncio.open_connection(parts.host, parts.port)


def request_of(url: str, method: str) -> bytes:
    """A request of this method to an agent, with an assignment."""
    message = {
        "kind": "message",
        "role": "user",
        "messageId": new_step_id(),
        "parts": [{"kind": "text", "text": "hello " * 100}],
        "metadata": ASSIGNMENT.metadata(),
        "extensions": [ASSIGNMENT_URI],
    }
    params: dict[str, Any] = {"message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return request(url, body.encode(), JSON)


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, prepared: bytes) -> bytes:
    """Sends a request and reads the whole response. Raises AssertionError for an unsuccessful one."""
    writer.write(prepared)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b"transfer-encoding: chunked" in head:
        body = await reader.readuntil(b"\r\n0\r\n\r\n")
    else:
        body = await reader.readexactly(int(re.findall(rb"content-length: (\d+)", head)[0]))
    assert head.startswith(b"http/1.1 200") and b'"error"' not in body, body  # noqa: PT018 - see load_generator.send_all
    return body


async def _streamed(name: str, url: str) -> Sequence[str]:
    late = [lateness for each in await asyncio.gather(*(_lateness(url) for _ in range(STREAMS))) for lateness in each]
    return name, str(len(late)), f"{_quantile(late, 50):.1f}", f"{_quantile(late, 99):.1f}"


async def _lateness(url: str) -> list[float]:
    """The delay of each event of one stream between sending and arrival (milliseconds)."""
    reader, writer = await _open(url)
    writer.write(request_of(url, "message/stream"))
    late: list[float] = []
    while not (line := await reader.readline()).startswith(b"0\r"):
        now = time.time()
        if match := re.search(rb'"text": "([0-9.]+)"', line):
            late.append((now - float(match[1])) * 1000)
    writer.close()
    return late


def _quantile(values: Sequence[float], q: int) -> float:
    return statistics.quantiles(values, n=100)[q - 1]
