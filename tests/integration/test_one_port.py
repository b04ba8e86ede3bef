"""Gateway and collector on one port: each path has the limits and the authentication of its own service."""

from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from concord.storage.redis import connect
from concord_cli.green.app import create_app
from concord_collector.settings import CollectorSettings
from concord_gateway.settings import GatewaySettings
from tests.integration.collectors import JSON, NO_TLS, SECRET, batch, bearer, reports, step
from tests.serving import served

CARD = "/.well-known/agent-card.json"


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    gateway = GatewaySettings(redis_url=redis_url, token_secret=SecretStr(SECRET), max_body_bytes=4000)
    collector = CollectorSettings(redis_url=redis_url, token_secret=SecretStr(SECRET), max_body_bytes=2000)
    app = create_app(gateway, collector, None, "127.0.0.1:9009")
    async with served(app) as url, httpx.AsyncClient(base_url=url, verify=NO_TLS) as client:
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
