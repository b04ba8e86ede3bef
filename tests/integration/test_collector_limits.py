"""The collector's limits: what exceeds them is refused whole, with a time to retry where that helps."""

import asyncio
import gzip
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import structlog

from concord.storage.connection import Storage, connect
from tests.kit.collectors import JSON, SECRET, batch, bearer, collector, reports, step

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress, "identity": bytes}


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


async def answer_to(port: int, head: str, *pieces: bytes) -> bytes:
    """The answer to a client that writes its whole request before it reads."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST /traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{head}\r\n\r\n".encode())
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.02)
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("pieces", [4, 40])
async def test_a_client_can_read_that_its_body_is_too_large_whether_or_not_it_declared_the_length(
    redis_url: str, pieces: int
) -> None:
    async with collector(redis_url, max_body_bytes=50_000) as client:
        port = client.base_url.port
        assert port is not None
        piece = b" " * 15_000
        declared = await answer_to(port, f"content-length: {pieces * 15_000}", *[piece] * pieces)
        chunk = b"%x\r\n%b\r\n" % (len(piece), piece)
        shown = await answer_to(port, "transfer-encoding: chunked", *[chunk] * pieces, b"0\r\n\r\n")
        asked = await answer_to(port, "content-length: 9999999999\r\nexpect: 100-continue")
    for answer in (declared, shown, asked):
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert answer.endswith(b'{"detail":"the body is too large"}')


@pytest.mark.parametrize("encoding", COMPRESS)
async def test_exports_of_spans_alone_may_be_larger_as_sent_and_decompressed(redis_url: str, encoding: str) -> None:
    limits = {"max_body_bytes": 3000, "max_inflated_bytes": 3000, "max_export_bytes": 6000}
    larger, too_large = (COMPRESS[encoding](b" " * size) for size in (4000, 7000))
    headers = JSON | {"content-encoding": encoding}
    async with collector(redis_url, **limits) as client:
        for path, body in (("/traces", larger), ("/v1/traces", too_large)):
            assert (await client.post(path, content=body, headers=headers)).status_code == 413, path
        assert (await client.post("/register", content=b" " * 4000, headers=JSON)).status_code == 413
        # The body is read; it is just not an export.
        assert (await client.post("/v1/traces", content=larger, headers=headers)).status_code == 400


@pytest.mark.parametrize("length", ["content-length: 9999999999", "transfer-encoding: chunked"])
async def test_a_client_that_goes_on_sending_reads_at_once_that_its_body_is_too_large(
    redis_url: str, length: str
) -> None:
    async with collector(redis_url, max_body_bytes=50_000) as client, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        writer.write(f"POST /traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{length}\r\n\r\n".encode())
        writer.write(b"ea60\r\n" + b" " * 60_000)
        answer = await reader.readuntil(b'{"detail":"the body is too large"}')
        writer.close()
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("encoding", COMPRESS)
async def test_a_batch_is_accepted_in_every_content_encoding(redis_url: str, storage: Storage, encoding: str) -> None:
    body = COMPRESS[encoding](json.dumps(batch(step("s1"), step("s2"))).encode())
    async with collector(redis_url) as client:
        answer = await client.post("/traces", content=body, headers=JSON | {"content-encoding": encoding})
    assert answer.status_code == 202
    assert [report.step.step_id for report in await reports(storage)] == ["s1", "s2"]


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_body_that_inflates_beyond_the_limit_is_refused(redis_url: str, encoding: str) -> None:
    bomb = COMPRESS[encoding](b" " * 2_000_000)
    async with collector(redis_url, max_inflated_bytes=1_000_000) as client:
        answer = await client.post("/traces", content=bomb, headers=JSON | {"content-encoding": encoding})
    assert answer.status_code == 413


async def test_a_body_that_is_not_in_its_declared_encoding_is_refused(redis_url: str) -> None:
    async with collector(redis_url) as client:
        for encoding in ("gzip", "zstd"):
            answer = await client.post("/traces", content=b"{}", headers=JSON | {"content-encoding": encoding})
            assert answer.status_code == 400


async def test_a_reporter_over_its_rate_gets_429_and_others_are_accepted(redis_url: str) -> None:
    async with collector(redis_url, token_secret=SECRET, rate_bytes_per_s=4096) as client:
        answers = [
            await client.post("/traces", json=batch(step(), batch_id=f"b{i}"), headers=bearer("flood"))
            for i in range(15)
        ]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert {answer.status_code for answer in answers} == {202, 429}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        assert (await client.post("/traces", json=batch(step()), headers=bearer("writer"))).status_code == 202
        assert (await client.post("/traces", json=batch(step()))).status_code == 202


async def test_a_reporter_over_its_quota_is_refused_and_counted_and_others_are_accepted(
    redis_url: str, storage: Storage
) -> None:
    async with collector(redis_url, token_secret=SECRET, max_trace_bytes=2_000) as client:
        flooder = bearer("flood")
        sent = [batch(step(f"s{i}"), batch_id=f"b{i}") for i in range(40)]
        receipts = [(await client.post("/traces", json=each, headers=flooder)).json() for each in sent]
        taken = sum(receipt["accepted"] for receipt in receipts)
        assert 0 < taken < 40
        refused = {receipt["rejected"][0]["reason"] for receipt in receipts if not receipt["accepted"]}
        assert refused == {"the trace is full"}
        assert (await client.post("/traces", json=sent[0], headers=flooder)).json() == {"accepted": 1, "rejected": []}
        writer = await client.post("/traces", json=batch(step()), headers=bearer("writer"))
        assert writer.json() == {"accepted": 1, "rejected": []}
    assert sum(report.reporter == "flood" for report in await reports(storage)) == taken
    assert await storage.traces.refused("t1") == {"flood": 40 - taken}


async def test_highly_compressible_batches_use_up_the_quota_too(redis_url: str) -> None:
    padded = step(additional_attributes={str(i): " " * 8000 for i in range(60)})
    async with collector(redis_url, max_trace_bytes=200_000) as client:
        receipts = [(await client.post("/traces", json=batch(padded, batch_id=f"b{i}"))).json() for i in range(12)]
    assert 0 in [receipt["accepted"] for receipt in receipts]


async def test_over_the_memory_watermark_batches_get_503_and_are_not_stored(redis_url: str, storage: Storage) -> None:
    used = (await storage.memory()).used
    async with collector(redis_url, redis_memory_bytes=used * 2, redis_watermark=0.9) as client:
        assert (await client.get("/readyz")).status_code == 200
    async with collector(redis_url, redis_memory_bytes=used // 2, redis_watermark=0.9) as client:
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.post("/traces", json=batch(step()))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert await reports(storage) == []


async def test_metrics_include_queue_depth_and_storage_use(redis_url: str) -> None:
    async with collector(redis_url) as client:
        await client.post("/traces", json=batch(step()))
        exposition = (await client.get("/metrics")).text
    names = {line.split("{")[0].split(" ")[0] for line in exposition.splitlines() if not line.startswith("#")}
    assert {
        "concord_redis_used_bytes",
        "concord_queue_depth",
        "concord_queue_oldest_seconds",
        "concord_collector_wire_bytes_total",
        "concord_collector_stored_bytes_total",
        "concord_collector_batch_seconds_count",
    } <= names


async def test_steps_with_numbers_too_large_for_storage_are_rejected(redis_url: str, storage: Storage) -> None:
    huge = 10**400
    sent = batch(step("a", latency=huge), step("b", cost=huge), step("c", total_tokens=-huge), step("d", latency=3))
    async with collector(redis_url) as client:
        receipt = (await client.post("/traces", json=sent)).json()
    assert [rejected["step_id"] for rejected in receipt["rejected"]] == ["a", "b", "c"]
    assert [report.step.latency_ms for report in await reports(storage)] == [3.0]


async def test_log_lines_about_a_batch_name_assessment_trace_and_batch(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Contexts(logging.Handler):
        """Keeps what every log line would contain."""

        def __init__(self) -> None:
            super().__init__()
            self.seen: list[dict[str, Any]] = []

        def emit(self, _: logging.LogRecord) -> None:
            self.seen.append(structlog.contextvars.get_contextvars())

    writer, contexts = logging.getLogger("concord_collector.traces"), Contexts()
    caplog.set_level(logging.DEBUG, writer.name)
    writer.addHandler(contexts)
    try:
        async with collector(redis_url, token_secret=SECRET) as client:
            await client.post("/traces", json=batch(step(), batch_id="b7"), headers=bearer("writer"))
    finally:
        writer.removeHandler(contexts)
    [line] = contexts.seen
    assert {"assessment_id": "a1", "trace_id": "t1", "batch_id": "b7", "reporter": "writer"}.items() <= line.items()
