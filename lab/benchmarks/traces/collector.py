"""The collector: throughput of a core, latency, memory under load, and the cost of reporting for an agent."""

import asyncio
import gzip
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import httpx
import redis

from concord.agent.reporter import TraceReporter
from concord.trace.report import pack
from concord.trace.step import CallType, InteractionStep, StepAction, ToolInvocation
from concord.wire.assignment import Assignment
from concord.wire.roster import new_step_id
from lab.benchmarks.load_generator import request, send_all, send_paced
from lab.benchmarks.processes import Server, redis_server, served
from lab.benchmarks.servers import SERVERS
from lab.benchmarks.tables import ResultTable, count
from lab.benchmarks.traces.request_bodies import SPANS, STEPS, WAYS, bodies, body_of, steps

BATCHES: Final = 300
ROUNDS: Final = 3
JSON: Final = {"content-type": "application/json"}
_Variant = tuple[str, str, str, Mapping[str, str], Sequence[bytes], int]
"""A name, its server, the path, the headers, the bodies, and how many steps or spans each of them has."""

GZIP: Final = JSON | {"content-encoding": "gzip"}
_STARTED: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)


def measure(*, soak_s: float) -> list[ResultTable]:
    """All figures of the collector."""
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        return [
            _as_rates(_rates(redis_url)),
            ResultTable(
                "Latency and memory of the collector",
                f"Batches of {STEPS} steps. Latency from when a batch was due, at half of what this machine takes with "
                "the load and Redis on it too. "
                f"Memory over {soak_s:g} s of steady load.",
                ("", "Value"),
                [*_latency(redis_url), *_soak(redis_url, soak_s)],
            ),
            ResultTable(
                "Cost of reporting for an agent",
                "CPU of the agent's process per reported step, including the sending thread. The rows of the "
                "caller are what its own thread spends, the best of 20 rounds.",
                ("Way", "µs a step"),
                _agent_costs(redis_url),
            ),
        ]


def _as_rates(rates: dict[str, float]) -> ResultTable:
    base = rates["FastAPI with a body model, XADD"]
    return ResultTable(
        "Throughput of a core",
        f"Steps by CPU second of the process. Batches of {STEPS} steps, {len(body_of(steps()))} bytes of JSON; exports "
        f"of {SPANS} spans. Best of {ROUNDS} rounds.",
        ("Variant", "Steps/s", "Ratio"),
        [(name, count(rate), f"{rate / base:.2f}") for name, rate in sorted(rates.items(), key=lambda item: -item[1])],
    )


def _rates(redis_url: str) -> dict[str, float]:
    plain = list(bodies(BATCHES))
    variants: list[_Variant] = [
        ("FastAPI reading the body only", "body_only", "/traces", JSON, plain, STEPS),
        ("FastAPI with a body model, XADD", "body_model", "/traces", JSON, plain, STEPS),
    ]
    for way in WAYS:
        whole = way.sent(BATCHES * STEPS // way.size)
        variants.append((f"collector, {way.name}", "collector", way.path, way.headers, whole, way.size))
    rates: dict[str, float] = defaultdict(float)
    with ExitStack() as stack:
        servers = {name: stack.enter_context(served(name, redis_url)) for name in SERVERS}
        # Round by round, so that other load on the machine affects all variants alike.
        for _ in range(ROUNDS):
            xadd = "Redis XADD of whole batches, alone"
            rates[xadd] = max(rates[xadd], _xadd_rate(redis_url, plain))
            for name, server, path, headers, sent, size in variants:
                requests = [request(servers[server].url + path, body, headers) for body in sent]
                rates[name] = max(rates[name], _rate(servers[server], requests, size))
    return rates


def _rate(server: Server, requests: Sequence[bytes], steps_each: int) -> float:
    _empty(server.redis_url)
    before = server.usage()["cpu_s"]
    asyncio.run(send_all(server.url, requests))
    return len(requests) * steps_each / (server.usage()["cpu_s"] - before)


def _xadd_rate(redis_url: str, sent: Sequence[bytes]) -> float:
    packed = [pack(body) for body in sent]
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
        before = redis_cpu_s(client)
        for each in packed:
            client.xadd("bench", {"body": each})
        return len(packed) * STEPS / (redis_cpu_s(client) - before)


def redis_cpu_s(client: redis.Redis) -> float:
    """CPU seconds of a Redis."""
    used = cast(dict[str, Any], client.info("cpu"))
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def _latency(redis_url: str, paced_s: float = 5) -> list[tuple[str, str]]:
    with served("collector", redis_url) as server:

        def requests(number: int) -> list[bytes]:
            return [request(f"{server.url}/traces", gzip.compress(body, 1), GZIP) for body in bodies(number)]

        _empty(redis_url)
        prepared = requests(BATCHES)
        started = time.perf_counter()
        asyncio.run(send_all(server.url, prepared))
        per_s = BATCHES / (time.perf_counter() - started) / 2
        latencies = asyncio.run(send_paced(server.url, requests(round(per_s * paced_s)), per_s))
    cuts = statistics.quantiles(latencies, n=100)
    return [
        (f"p50 at {count(per_s * STEPS)} steps/s", f"{cuts[49] * 1000:.1f} ms"),
        (f"p99 at {count(per_s * STEPS)} steps/s", f"{cuts[98] * 1000:.1f} ms"),
    ]


def _soak(redis_url: str, soak_s: float, per_s: float = 100) -> list[tuple[str, str]]:
    resident: list[float] = []
    sent = 0
    with served("collector", redis_url) as server:
        deadline = time.monotonic() + soak_s
        while time.monotonic() < deadline:
            requests = [request(f"{server.url}/traces", body, JSON) for body in bodies(round(per_s))]
            asyncio.run(send_paced(server.url, requests, per_s))
            sent += len(requests) * STEPS
            resident.append(server.usage()["resident_bytes"])
            _empty(redis_url)
    third = max(1, len(resident) // 3)
    # The first third warms up caches and pools.
    growth = statistics.fmean(resident[-third:]) - statistics.fmean(resident[third : 2 * third] or resident)
    return [
        ("resident memory", f"{resident[-1] / 2**20:.0f} MiB"),
        (f"growth over the last {2 * soak_s / 3:.3g} s, {count(sent)} steps in all", f"{growth / 2**20:+.2f} MiB"),
    ]


def _agent_costs(redis_url: str) -> list[tuple[str, str]]:
    reported = steps(20_000)
    with served("collector", redis_url) as server:
        assignment = _assignment(reported[0].trace_id, server)
        return [
            ("caller: makes an InteractionStep and reports it", f"{_caller_us(_made_and_reported, assignment):.1f}"),
            ("caller: record()", f"{_caller_us(_recorded, assignment):.1f}"),
            ("caller: report() alone", f"{_report_call_us(reported[:5000], assignment):.2f}"),
            ("TraceReporter, all of it", f"{_reporter_us(reported, assignment):.1f}"),
            ("a POST for each step (httpx)", f"{_post_each_us(reported[:300], server):.0f}"),
        ]


def reporter_costs_us(redis_url: str) -> tuple[float, float]:
    """What `TraceReporter` costs: `record()` for its caller, and the whole process for each step (µs)."""
    reported = steps(20_000)
    with served("collector", redis_url) as server:
        assignment = _assignment(reported[0].trace_id, server)
        return _caller_us(_recorded, assignment), _reporter_us(reported, assignment)


def _assignment(trace_id: str, server: Server) -> Assignment:
    return Assignment(
        assessment_id="a", trace_id=trace_id, step_id=new_step_id(), agent_id="writer", collector_url=server.url
    )


def _report_call_us(reported: Sequence[InteractionStep], assignment: Assignment) -> float:
    def once() -> float:
        reporter = TraceReporter()
        reporter.report(reported[0], assignment)
        started = time.perf_counter()
        for step in reported[:90]:
            reporter.report(step, assignment)
        elapsed = time.perf_counter() - started
        reporter.close()
        return elapsed / 90 * 1e6

    return min(once() for _ in range(7))


def _caller_us(report_one: Callable[[TraceReporter, Assignment, int], None], assignment: Assignment) -> float:
    def once() -> float:
        reporter = TraceReporter()
        report_one(reporter, assignment, 0)
        started = time.perf_counter()
        for number in range(90):  # a batch of 100 would wake the thread
            report_one(reporter, assignment, number)
        elapsed = time.perf_counter() - started
        reporter.close()
        return elapsed / 90 * 1e6

    return min(once() for _ in range(20))


def _made_and_reported(reporter: TraceReporter, assignment: Assignment, number: int) -> None:
    reporter.report(
        InteractionStep(
            step_id=new_step_id(),
            trace_id=assignment.trace_id,
            parent_step_id=assignment.step_id,
            call_type=CallType.TOOL,
            step_action=StepAction(
                tool_invocation=ToolInvocation(tool_name="search", parameters={"query": "Berlin", "page": number})
            ),
            additional_attributes={"agent_name": "searcher"},
            start_time=_STARTED,
            end_time=_STARTED,
        ),
        assignment,
    )


def _recorded(reporter: TraceReporter, assignment: Assignment, number: int) -> None:
    reporter.record(
        assignment,
        CallType.TOOL,
        "search",
        content={"query": "Berlin", "page": number},
        attributes={"agent_name": "searcher"},
        start_time=_STARTED,
        end_time=_STARTED,
    )


def _reporter_us(reported: Sequence[InteractionStep], assignment: Assignment) -> float:
    reporter = TraceReporter()
    reporter.report(reported[0], assignment)
    reporter.flush()
    before = time.process_time()
    for start in range(0, len(reported), 1000):
        for step in reported[start : start + 1000]:
            reporter.report(step, assignment)
        reporter.flush(30)
    used = time.process_time() - before
    reporter.close()
    return used / len(reported) * 1e6


def _post_each_us(reported: Sequence[InteractionStep], server: Server) -> float:
    with httpx.Client() as http:
        before = time.process_time()
        for step in reported:
            http.post(f"{server.url}/traces", content=body_of([step]), headers=JSON).raise_for_status()
        return (time.process_time() - before) / len(reported) * 1e6


def _empty(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
