"""OTLP/HTTP at the collector: spans of any exporter, in protobuf and in JSON, become the same reports."""

import gzip
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from concord.storage.connection import Storage, connect
from concord.trace.report import Channel
from concord.trace.step import CallType
from tests.kit.collectors import JSON, SECRET, bearer, collector, reports
from tests.kit.digests import digest

TRACE = "5b8efff798038103d269b633813fc60c"
OTHER = "6b8efff798038103d269b633813fc60c"
PROTOBUF = {"content-type": "application/x-protobuf"}

SentSpan = tuple[str, str, dict[str, str | int]]
"""A span as (id, parent id, attributes)."""


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with collector(redis_url, token_secret=SECRET) as client:
        yield client


def export(*spans: SentSpan, trace_id: str = TRACE) -> ExportTraceServiceRequest:
    """An export of spans of one service."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "writer"
    scoped = group.scope_spans.add()
    for span_id, parent_id, attributes in spans:
        span = scoped.spans.add(
            trace_id=bytes.fromhex(trace_id),
            span_id=bytes.fromhex(span_id),
            parent_span_id=bytes.fromhex(parent_id),
            name="work",
            start_time_unix_nano=1_700_000_000_000_000_000,
            end_time_unix_nano=1_700_000_000_250_000_000,
        )
        for key, value in attributes.items():
            kind = span.attributes.add(key=key).value
            if isinstance(value, int):
                kind.int_value = value
            else:
                kind.string_value = value
    return request


def call(span_id: str, agent: str) -> SentSpan:
    """The span of a call of an agent."""
    return span_id, "", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}


CALL = call("a" * 16, "critic")
CHAT: SentSpan = (
    "b" * 16,
    "a" * 16,
    {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.agent.name": "critic"},
)


def as_json(request: ExportTraceServiceRequest) -> bytes:
    """OTLP/JSON: protobuf's own JSON, but with ids in hex."""
    document = MessageToDict(request)
    for group in document["resourceSpans"]:
        for scoped in group["scopeSpans"]:
            sent = request.resource_spans[0].scope_spans[0].spans
            for span, original in zip(scoped["spans"], sent, strict=True):
                span["traceId"], span["spanId"] = original.trace_id.hex(), original.span_id.hex()
                span["parentSpanId"] = original.parent_span_id.hex()
    return json.dumps(document).encode()


async def test_protobuf_and_json_become_the_same_reports(client: httpx.AsyncClient, storage: Storage) -> None:
    sent = export(CALL, CHAT)
    assert (await client.post("/v1/traces", content=sent.SerializeToString(), headers=PROTOBUF)).status_code == 200
    first = await reports(storage, TRACE)
    assert (await client.post("/v1/traces", content=as_json(sent), headers=JSON)).status_code == 200
    second = (await reports(storage, TRACE))[len(first) :]
    assert [digest(report.step) for report in second] == [digest(report.step) for report in first]
    invoked, chat = (report.step for report in first)
    assert invoked.agent_call is not None
    assert (invoked.kind, invoked.agent_call.agent_name, invoked.latency_ms) == (CallType.AGENT, "critic", 250.0)
    assert (chat.kind, chat.parent, chat.additional_attributes["agent_name"]) == (CallType.TOOL, "a" * 16, "critic")
    assert {(r.reporter, r.authenticated, r.channel) for r in first} == {("writer", False, Channel.OTLP)}


async def test_an_export_in_gzip_is_accepted_and_a_repeated_one_is_stored_once(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    body = gzip.compress(export(CALL, CHAT).SerializeToString())
    for _ in range(3):
        answer = await client.post("/v1/traces", content=body, headers=PROTOBUF | {"content-encoding": "gzip"})
        assert answer.status_code == 200
        assert ExportTraceServiceResponse.FromString(answer.content) == ExportTraceServiceResponse()
    assert len(await reports(storage, TRACE)) == 2


async def test_spans_that_cannot_become_steps_are_counted_in_a_partial_success(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    sent = export(
        CALL,
        ("0" * 16, "", {}),
        ("c" * 16, "0" * 16, {}),
    )
    answer = await client.post("/v1/traces", content=sent.SerializeToString(), headers=PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status_code, partial.rejected_spans, "span id" in partial.error_message) == (200, 2, True)
    in_json = (await client.post("/v1/traces", content=as_json(sent), headers=JSON)).json()
    assert in_json["partialSuccess"]["rejectedSpans"] == "2"
    assert {report.step.step_id for report in await reports(storage, TRACE)} == {"a" * 16}


async def test_with_a_token_the_reporter_is_its_agent_and_spans_of_other_traces_are_rejected(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    both = export(CALL)
    both.MergeFrom(export(CHAT, trace_id=OTHER))
    headers = PROTOBUF | bearer("critic", TRACE)
    answer = await client.post("/v1/traces", content=both.SerializeToString(), headers=headers)
    assert ExportTraceServiceResponse.FromString(answer.content).partial_success.rejected_spans == 1
    foreign = export(CHAT, trace_id=OTHER).SerializeToString()
    assert (await client.post("/v1/traces", content=foreign, headers=headers)).status_code == 403
    assert [(r.reporter, r.authenticated) for r in await reports(storage, TRACE)] == [("critic", True)]
    assert await reports(storage, OTHER) == []


async def test_oversized_attributes_are_cut_and_counted_and_their_spans_stored(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    sent = export(call("b" * 16, "x" * 999 + "1"), call("c" * 16, "x" * 999 + "2"))
    answer = await client.post("/v1/traces", content=sent.SerializeToString(), headers=PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status_code, partial.rejected_spans, partial.error_message) == (
        *(200, 0),
        "oversized attributes, cut: 2",
    )
    names = {report.step.agent_call.agent_name for report in await reports(storage, TRACE) if report.step.agent_call}
    assert {len(name) for name in names} == {256}
    assert len(names) == 2


async def test_the_defaults_of_a_batch_exporter_are_never_too_large(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    told: dict[str, str | int] = {"gen_ai.input.messages": "x" * 100_000}
    many = export(*((f"{number + 1:016x}", "", told) for number in range(512)))
    answer = await client.post("/v1/traces", content=many.SerializeToString(), headers=PROTOBUF)
    assert answer.status_code == 200
    assert len(await reports(storage, TRACE)) == 512


async def test_an_export_is_split_by_trace_and_a_long_one_is_stored_whole(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    many = export(*((f"{number + 1:016x}", "", {}) for number in range(2500)))
    many.MergeFrom(export(CALL, trace_id=OTHER))
    answer = await client.post("/v1/traces", content=many.SerializeToString(), headers=PROTOBUF)
    assert answer.status_code == 200
    assert len(await reports(storage, TRACE)) == 2500
    assert len(await reports(storage, OTHER)) == 1


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b'{"resourceSpans": 1}', JSON, 400),
        (b"\xff\xff\xff", PROTOBUF, 400),
        (b"", {"content-type": "text/plain"}, 415),
        (b"", PROTOBUF | {"content-encoding": "br"}, 415),
    ],
    ids=["truncated JSON", "wrong type", "invalid protobuf", "media type", "content encoding"],
)
async def test_a_body_that_is_no_export_is_refused(
    client: httpx.AsyncClient, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert (await client.post("/v1/traces", content=body, headers=headers)).status_code == status


async def test_an_empty_export_is_a_success(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/traces", content=b"", headers=PROTOBUF)).status_code == 200
    answer = await client.post("/v1/traces", content=b"{}", headers=JSON)
    assert (answer.status_code, answer.json()) == (200, {})
