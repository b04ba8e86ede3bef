"""Ingestion under faults, with real processes: acknowledged reports are kept, and none is stored twice."""

import asyncio
import json
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from concord.agent.reporter import TraceReporter
from concord.storage.connection import connect
from concord.trace.step import CallType, InteractionStep
from concord.wire.assignment import Assignment
from tests.faults.collectors import CollectorProcess
from tests.kit.collectors import SECRET, batch, bearer, reports, step
from tests.kit.redis_servers import PrivateServer

STEPS = 3000
TRACES = ("t1", "t2", "t3")


@pytest.fixture
def process(private_redis: PrivateServer, tmp_path: Path) -> Iterator[CollectorProcess]:
    process = CollectorProcess(
        private_redis.url, tmp_path / "collector.log", CONCORD_TOKEN_SECRET=SECRET, CONCORD_OPEN="true"
    )
    process.start()
    yield process
    process.stop()


class ReportingTeam:
    """Agents that report one step at a time, each in a thread of its own, until the block ends."""

    def __init__(self, collector_url: str) -> None:
        self._reporter = TraceReporter()
        self._url = collector_url
        self._threads = [threading.Thread(target=self._work, args=(trace_id,)) for trace_id in TRACES]

    def __enter__(self) -> "ReportingTeam":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.join()
        self._reporter.close(30)

    def _work(self, trace_id: str) -> None:
        assignment = Assignment(
            assessment_id="a", trace_id=trace_id, step_id="root", agent_id="writer", collector_url=self._url
        )
        pause = threading.Event()
        for number in range(STEPS):
            reported = InteractionStep(step_id=str(number), trace_id=trace_id, call_type=CallType.TOOL)
            self._reporter.report(reported, assignment)
            if number % 100 == 0:
                pause.wait(0.1)


async def assert_every_step_is_stored_once(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        for trace_id in TRACES:
            stored = Counter(report.step.step_id for report in await reports(storage, trace_id))
            assert stored == Counter(map(str, range(STEPS)))
            assert sum([each.dropped async for each in storage.traces.batches(trace_id)]) == 0


async def test_a_killed_collector_loses_and_duplicates_no_step(
    process: CollectorProcess, private_redis: PrivateServer
) -> None:
    def run() -> None:
        with ReportingTeam(process.url):
            for _ in range(2):
                threading.Event().wait(0.7)
                process.kill()
                process.start()

    await asyncio.to_thread(run)
    await assert_every_step_is_stored_once(private_redis.url)


async def test_a_killed_redis_loses_and_duplicates_no_step(
    process: CollectorProcess, private_redis: PrivateServer
) -> None:
    def run() -> None:
        with ReportingTeam(process.url):
            for _ in range(2):
                threading.Event().wait(0.8)
                private_redis.kill()
                private_redis.start()

    await asyncio.to_thread(run)
    await assert_every_step_is_stored_once(private_redis.url)


async def test_reporters_lose_no_step_while_redis_is_down_for_ten_seconds(
    process: CollectorProcess, private_redis: PrivateServer
) -> None:
    def run() -> None:
        with ReportingTeam(process.url):
            private_redis.kill()
            threading.Event().wait(10)
            assert httpx.get(f"{process.url}/readyz", timeout=60).status_code == 503
            assert httpx.get(f"{process.url}/healthz", timeout=60).status_code == 200
            private_redis.start()

    await asyncio.to_thread(run)
    await assert_every_step_is_stored_once(private_redis.url)


async def test_steps_acknowledged_before_a_kill_are_stored_after_it(
    process: CollectorProcess, private_redis: PrivateServer
) -> None:
    acknowledged: set[str] = set()

    async def send(client: httpx.AsyncClient, sender: int) -> None:
        with suppress(httpx.TransportError):
            for number in range(10_000):
                step_id = f"{sender}-{number}"
                sent = batch(step(step_id), batch_id=step_id)
                if (await client.post("/traces", json=sent, headers=bearer(f"agent-{sender}"))).status_code != 202:
                    return
                acknowledged.add(step_id)

    async with httpx.AsyncClient(base_url=process.url, timeout=60) as client:
        senders = [asyncio.create_task(send(client, sender)) for sender in range(8)]
        while len(acknowledged) < 200:
            await asyncio.sleep(0.01)
        private_redis.kill()
        process.kill()
        await asyncio.gather(*senders)
    private_redis.start()
    async with connect(private_redis.url) as storage:
        stored = Counter(report.step.step_id for report in await reports(storage))
    assert acknowledged <= stored.keys()
    assert max(stored.values()) == 1


@pytest.mark.smoke
async def test_requests_under_way_at_sigterm_are_answered_and_stored(
    process: CollectorProcess, private_redis: PrivateServer
) -> None:
    async with AsyncExitStack() as connections:
        begun = [await connections.enter_async_context(begun_report(process.url, number)) for number in range(20)]
        process.signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        statuses = await asyncio.gather(*(end() for end in begun))
    assert set(statuses) == {b"HTTP/1.1 202 Accepted\r\n"}
    assert await asyncio.to_thread(process.wait) in {0, -signal.SIGTERM}
    async with connect(private_redis.url) as storage:
        assert len(await reports(storage)) == len(begun)


@asynccontextmanager
async def begun_report(url: str, number: int) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """A request that the collector has begun to read; yields a function that sends its body and returns the status."""
    body = json.dumps(batch(step(str(number)), batch_id=str(number))).encode()
    address = httpx.URL(url)
    head = f"POST /traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    async with asyncio.timeout(60):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(f"{head}expect: 100-continue\r\n\r\n".encode())
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"

    async def end() -> bytes:
        async with asyncio.timeout(60):
            writer.write(body)
            return await reader.readline()

    try:
        yield end
    finally:
        writer.close()
