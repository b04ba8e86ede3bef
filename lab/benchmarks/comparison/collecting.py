"""The collector's CPU for a step in Concord's JSON, and for a span in OTLP."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx

from lab.benchmarks import usage
from lab.benchmarks.comparison.trees import Tree
from lab.benchmarks.load_generator import request, send_all
from lab.benchmarks.processes import redis_server, wait_for
from lab.benchmarks.traces.request_bodies import WAYS
from tests.kit.ports import free_port

SENT: Final = {"step": 20_000, "span": 6_000}
"""By each way in a round, after a tenth of as many that do not count."""

_UNBOUNDED: Final = str(1 << 40)


def collecting(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
    """Every way into the collector, by one caller with eight connections."""
    port = free_port()
    with TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        settings = {
            "REDIS_URL": redis_url,
            "CONCORD_OPEN": "1",
            "CONCORD_RATE_BYTES_PER_S": _UNBOUNDED,
            "CONCORD_MAX_TRACE_BYTES": _UNBOUNDED,
            "CONCORD_MAX_STEPS": _UNBOUNDED,
            "CONCORD_OPEN_BYTES": _UNBOUNDED,
        }
        with tree.running(["concord_collector", "--host", "127.0.0.1", "--port", str(port)], settings) as process:
            url = f"http://127.0.0.1:{port}"
            wait_for(lambda: httpx.get(f"{url}/openapi.json").is_success)
            for way in WAYS:
                number = SENT[way.unit] // way.size
                requests = [request(url + way.path, body, way.headers) for body in way.sent(number + number // 10)]
                asyncio.run(send_all(url, requests[number:]))
                before = usage.cpu_s(process.pid)
                asyncio.run(send_all(url, requests[:number]))
                used = usage.cpu_s(process.pid) - before
                yield f"collector, {way.name}: CPU (µs a {way.unit})", used / (number * way.size) * 1e6
