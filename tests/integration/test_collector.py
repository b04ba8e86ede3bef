"""The collector's endpoints on a real Redis: acknowledged batches are kept, and refusals give their reasons."""

import asyncio
import json
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import httpx
import pytest

from concord.storage.connection import Storage, connect
from concord.trace.decoding import reports_of
from concord.wire.roster import RosterEntry
from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings
from tests.kit.redis_servers import PrivateServer
from tests.kit.serving import served

JSON = {"content-type": "application/json"}


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    settings = CollectorSettings(
        redis_url=redis_url, open=True, max_body_bytes=100_000, allowed_peer_networks=(ip_network("127.0.0.0/8"),)
    )
    app = create_app(settings)
    async with served(app) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


def step(step_id: str = "s1", **changes: object) -> dict[str, Any]:
    return {"step_id": step_id, "trace_id": "t1", "call_type": "AGENT"} | changes


def batch(*steps: object, **changes: object) -> dict[str, Any]:
    return {"batch_id": "b1", "trace_id": "t1", "reporter": "writer", "steps": list(steps)} | changes


async def step_ids(storage: Storage) -> list[str]:
    return [report.step.step_id async for each in storage.traces.batches("t1") for report in reports_of(each)]


async def test_an_acknowledged_batch_is_in_redis(client: httpx.AsyncClient, storage: Storage) -> None:
    response = await client.post("/traces", json=batch(step("s1"), step("s2"), dropped={"buffer_full": 7}))
    assert response.status_code == 202
    assert response.json() == {"accepted": 2, "rejected": []}
    (stored,) = [each async for each in storage.traces.batches("t1")]
    assert (stored.reporter, stored.authenticated, stored.channel, stored.dropped) == ("writer", False, "http", 7)
    assert await step_ids(storage) == ["s1", "s2"]


async def test_valid_steps_of_a_batch_are_kept_and_others_are_rejected_with_index_and_reason(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    sent = batch(step("s1"), step("s2", trace_id="other"), step("s3", call_type="PHONE"), "no step", step("s5"))
    response = await client.post("/traces", json=sent)
    assert response.status_code == 202
    receipt = response.json()
    assert receipt["accepted"] == 2
    assert [(r["index"], r["step_id"]) for r in receipt["rejected"]] == [(1, "s2"), (2, "s3"), (3, None)]
    assert "trace_id" in receipt["rejected"][0]["reason"]
    assert "call_type" in receipt["rejected"][1]["reason"]
    assert await step_ids(storage) == ["s1", "s5"]


async def test_a_repeated_batch_gets_the_same_answer_and_is_stored_once(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    answers = await asyncio.gather(*(client.post("/traces", json=batch(step(), "bad")) for _ in range(10)))
    assert {answer.text for answer in answers} == {answers[0].text}
    assert await step_ids(storage) == ["s1"]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b'{"trace_id": "t1"}', JSON, 400),
        (b'{"trace_id": "t1", "reporter": "green-agent"}', JSON, 400),
        (json.dumps(batch(trace_id="x" * 65)).encode(), JSON, 400),
        (json.dumps(batch(*[step()] * 1001)).encode(), JSON, 400),
        (b"\xff\xfe", JSON, 400),
        (b"[" * 50_000, JSON, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"{}", JSON | {"content-encoding": "br"}, 415),
        (b" " * 100_001, JSON, 413),
    ],
    ids=[
        "truncated JSON",
        "list",
        "no reporter",
        "reserved reporter",
        "long trace id",
        "too many steps",
        "not UTF-8",
        "deeply nested",
        "media type",
        "content encoding",
        "too large",
    ],
)
async def test_a_body_that_is_no_batch_is_refused_and_not_stored(
    client: httpx.AsyncClient, storage: Storage, body: bytes, headers: dict[str, str], status: int
) -> None:
    response = await client.post("/traces", content=body, headers=headers)
    assert response.status_code == status
    assert response.json()["detail"]
    assert await storage.redis.keys("concord:*") == []


async def test_a_body_without_content_length_is_held_to_the_size_limit(client: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b" " * 1000

    response = await client.post("/traces", content=endless(), headers=JSON)
    assert response.status_code == 413


async def test_a_refusal_does_not_quote_the_input(client: httpx.AsyncClient) -> None:
    response = await client.post("/traces", json=batch(step(call_type="SECRET-VALUE"), trace_id="t1"))
    assert "SECRET-VALUE" not in response.text


async def test_without_redis_a_batch_gets_503_with_retry_after_and_is_taken_once_redis_is_back(
    private_redis: PrivateServer,
) -> None:
    app = create_app(CollectorSettings(redis_url=private_redis.url, open=True))
    async with served(app) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        assert (await client.get("/readyz")).status_code == 200
        await asyncio.to_thread(private_redis.kill)
        response = await client.post("/traces", json=batch(step()))
        assert (response.status_code, response.headers["retry-after"]) == (503, "1")
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        await asyncio.to_thread(private_redis.start)
        assert (await client.post("/traces", json=batch(step()))).status_code == 202
        assert (await client.get("/readyz")).status_code == 200
        async with connect(private_redis.url) as storage:
            assert await step_ids(storage) == ["s1"]


async def test_a_registered_agent_is_among_the_peers(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        "/register", json={"id": "writer", "url": "http://127.0.0.1:9009", "functions": ["writer"]}
    )
    assert answer.status_code == 201
    peers = (await client.get("/peers")).json()["peers"]
    assert [(p["id"], p["url"], p["functions"]) for p in peers] == [("writer", "http://127.0.0.1:9009/", ["writer"])]


async def test_the_peers_of_an_assessment_are_its_roster_and_not_the_open_registry(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    await storage.registry.register("a1", [RosterEntry(id="reader", url="http://reader")])
    await client.post("/register", json={"id": "writer", "url": "http://127.0.0.1:9009"})
    peers = (await client.get("/peers", params={"assessment_id": "a1"})).json()["peers"]
    assert [peer["id"] for peer in peers] == ["reader"]
    assert (await client.get("/peers", params={"assessment_id": "nobody"})).json() == {"peers": []}


@pytest.mark.parametrize(
    "registration",
    [
        {"id": "green-agent", "url": "http://x"},
        {"id": "a/b", "url": "http://x"},
        {"id": "a", "url": "file:///etc/passwd"},
        {"id": "a", "url": "http://x", "assessment_id": "a1"},
        {"id": "a", "url": "http://x", "functions": ["f"] * 17},
    ],
    ids=["reserved id", "slash in id", "file URL", "assessment without token", "too many functions"],
)
async def test_an_invalid_registration_is_refused(client: httpx.AsyncClient, registration: dict[str, object]) -> None:
    assert (await client.post("/register", json=registration)).status_code in {400, 422}
    assert (await client.get("/peers")).json() == {"peers": []}


async def test_metrics_count_steps_and_batches_by_outcome(client: httpx.AsyncClient) -> None:
    await client.post("/traces", json=batch(step(), "bad", dropped={"buffer_full": 4}))
    await client.post("/traces", json=batch(step(), "bad"))
    await client.post("/traces", content=b"{", headers=JSON)
    exposition = (await client.get("/metrics")).text
    for line in (
        'concord_collector_steps_total{outcome="accepted"} 1.0',
        'concord_collector_steps_total{outcome="duplicate"} 1.0',
        'concord_collector_steps_total{outcome="rejected"} 2.0',
        'concord_collector_rejected_total{reason="invalid"} 2.0',
        'concord_collector_batches_total{status="202"} 2.0',
        'concord_collector_batches_total{status="400"} 1.0',
        "concord_collector_reporter_dropped_total 4.0",
    ):
        assert line in exposition


async def test_the_openapi_document_describes_a_batch_and_its_references_resolve(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    body = document["paths"]["/traces"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/StepBatch"}
    schemas = document["components"]["schemas"]
    named = {part.split('"')[0] for part in json.dumps(document).split('"#/components/schemas/')[1:]}
    assert named <= schemas.keys()
