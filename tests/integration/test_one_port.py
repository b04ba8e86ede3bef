"""Gateway and collector on one port: each path has the limits and the authentication of its own service."""

import json
import re
import socket
from collections.abc import AsyncIterator, Collection
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
from pydantic import SecretStr
from starlette.types import ASGIApp

from concord.a2a import IncomingMessage, TaskHandle
from concord.processes import ProcessPool
from concord.storage.connection import connect
from concord_cli.program.one_port import Operators, PortSettings, create_app
from concord_collector.settings import CollectorSettings
from concord_gateway.settings import GatewaySettings
from tests.kit.collectors import JSON, NO_TLS, SECRET, batch, bearer, reports, step
from tests.kit.serving import served, served_agent

CARD = "/.well-known/agent-card.json"


def green_agent(
    gateway: GatewaySettings,
    collector: CollectorSettings,
    bound_to: str = "127.0.0.1:9009",
    exposed: Collection[Operators] = (Operators.METRICS,),
) -> ASGIApp:
    workers = CollectorRegistry()
    Counter("jobs_total", "Jobs.", registry=workers).inc()
    up = {"gateway": True, "evaluator-fast": True, "evaluator-llm": False}
    pool = ProcessPool(2, memory_bytes=2**28)  # without a call it has no process, and so nothing to end
    return create_app(gateway, collector, None, bound_to, pool, workers, lambda: up, exposed)


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    gateway = GatewaySettings(redis_url=redis_url, token_secret=SecretStr(SECRET), max_body_bytes=4000)
    collector = CollectorSettings(redis_url=redis_url, token_secret=SecretStr(SECRET), max_body_bytes=2000)
    app = green_agent(gateway, collector)
    async with served(app) as url, httpx.AsyncClient(base_url=url, timeout=60, verify=NO_TLS) as client:
        yield client


async def test_a_participant_reports_and_finds_peers_at_the_green_agents_own_address(
    client: httpx.AsyncClient, redis_url: str
) -> None:
    assert (await client.get(CARD)).json()["supportedInterfaces"][0]["url"] == f"{client.base_url}/"
    stored = await client.post("/traces", json=batch(step()), headers=bearer("writer"))
    peers = await client.get("/peers", headers=bearer("writer"))
    assert (stored.status_code, peers.json()) == (202, {"peers": []})
    async with connect(redis_url) as storage:
        assert [report.reporter for report in await reports(storage)] == ["writer"]


@pytest.mark.parametrize("path", ["/traces", "/v1/traces", "/register"])
async def test_the_collectors_paths_need_a_token(client: httpx.AsyncClient, path: str) -> None:
    document = {"id": "a", "url": "http://a:1/"} if path == "/register" else batch(step())
    assert (await client.post(path, json=document)).status_code == 401


@pytest.mark.parametrize("path", [CARD, "/metrics", "/readyz"])
async def test_a_participants_token_opens_nothing_of_the_gateways(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path, headers=bearer("writer"))).status_code == 403


async def test_each_service_keeps_its_own_limit_on_bodies(client: httpx.AsyncClient) -> None:
    body = b"x" * 3000
    assert (await client.post("/traces", content=body, headers=JSON | bearer("writer"))).status_code == 413
    assert (await client.post("/", content=body, headers=JSON)).status_code == 200  # a JSON-RPC error
    assert (await client.post("/", content=body * 2, headers=JSON)).status_code == 413


async def test_the_metrics_of_all_parts_are_in_one_exposition_with_the_parts_that_run(
    client: httpx.AsyncClient,
) -> None:
    exposition = (await client.get("/metrics")).text
    assert 'jobs_total{part="evaluator"} 1.0' in exposition
    assert 'concord_part_up{part="evaluator-fast"} 1.0' in exposition
    assert 'concord_part_up{part="evaluator-llm"} 0.0' in exposition
    assert exposition.count("# TYPE process_resident_memory_bytes ") == 1
    assert {"collector", "gateway", "program"} <= set(re.findall(r'part="([^"]+)"', exposition))


async def test_a_url_that_was_joined_at_a_slash_too_many_is_understood(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"{client.base_url}/{CARD}")).json()["name"]
    assert (await client.get(f"{client.base_url}//traces")).status_code == 405
    assert (await client.get(f"{client.base_url}/{CARD}", headers=bearer("writer"))).status_code == 403


OPERATORS = ("/docs", "/redoc", "/openapi.json", "/metrics")


@pytest.mark.parametrize(
    ("exposed", "open_to_all"),
    [("", []), ("metrics", ["/metrics"]), ("docs, metrics", ["/docs", "/redoc", "/openapi.json", "/metrics"])],
)
async def test_what_is_for_operators_does_not_exist_unless_they_ask_for_it(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, exposed: str, open_to_all: list[str]
) -> None:
    monkeypatch.setenv("CONCORD_EXPOSE", exposed)
    app = green_agent(GatewaySettings(redis_url=redis_url), CollectorSettings(), exposed=PortSettings().expose)
    async with served(app) as url, httpx.AsyncClient(base_url=url, timeout=60, verify=NO_TLS) as client:
        answers = {path: (await client.get(path)).status_code for path in OPERATORS}
    assert answers == {path: 200 if path in open_to_all else 404 for path in OPERATORS}


async def complete(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("done")


async def message_about(client: httpx.AsyncClient, request: dict[str, Any]) -> str:
    """The text of the status with which the green agent ends the task of a request."""
    message = {"messageId": uuid4().hex, "role": "user", "parts": [{"kind": "text", "text": json.dumps(request)}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    status = (await client.post("/", json=call)).json()["result"]["status"]
    assert status["state"] == "rejected"
    text: str = status["message"]["parts"][0]["text"]
    return text


async def test_without_an_address_for_assistants_a_scenario_is_rejected(client: httpx.AsyncClient) -> None:
    request = {"participants": {"agent": "http://127.0.0.1:1/"}, "config": {"scenario": "first_day"}}
    assert "`scenario` needs an address of this gateway for assistants" in await message_about(client, request)


async def test_without_an_address_for_participants_calls_cannot_be_asked_for(client: httpx.AsyncClient) -> None:
    async with served_agent(complete) as url:
        request = {"participants": {"agent": url}, "config": {"suite": "maximum", "exchange": "calls"}}
        assert "participants have no address of the gateway" in await message_about(client, request)


async def test_a_green_agent_on_every_interface_does_not_assess_itself(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "192.0.2.9")
    gateway, collector = GatewaySettings(redis_url=redis_url), CollectorSettings(redis_url=redis_url)
    everywhere = green_agent(gateway, collector, "0.0.0.0:9009")
    async with served(everywhere) as url, httpx.AsyncClient(base_url=url, timeout=60, verify=NO_TLS) as client:
        text = await message_about(client, {"participants": {"agent": "http://192.0.2.9:9009/"}, "config": {}})
    assert "it is one of the assessor's own addresses" in text
