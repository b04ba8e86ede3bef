"""The registry: registered agents are found, and the collector fetches cards only from allowed addresses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Response

from concord.storage import OPEN_SCOPE
from concord.storage.connection import connect
from tests.kit.collectors import collector
from tests.kit.serving import served

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with collector(redis_url, allowed_peer_networks=LOOPBACK) as client:
        yield client


@asynccontextmanager
async def agent(card: dict[str, Any], requests: list[str] | None = None) -> AsyncIterator[str]:
    """An agent that shows a card; `requests` gets an entry for each request of the card."""
    app = FastAPI()
    own: list[str] = []

    @app.get("/.well-known/agent-card.json")
    async def show() -> dict[str, Any]:
        if requests is not None:
            requests.append(own[0])
        return card

    async with served(app) as url:
        own.append(url)
        yield url


async def test_an_agents_functions_are_those_it_registers_or_else_the_skills_of_its_card(
    client: httpx.AsyncClient,
) -> None:
    card = {"skills": [{"id": "research", "name": "Research"}], "supportedInterfaces": [{"url": "http://127.0.0.2:7/"}]}
    async with agent(card) as url:
        declared = await client.post("/register", json={"id": "a", "url": url, "functions": ["critic"]})
        from_card = await client.post("/register", json={"id": "b", "url": url})
    assert (declared.json()["functions"], from_card.json()["functions"]) == (["critic"], ["research"])
    assert from_card.json()["aliases"] == ["http://127.0.0.2:7/"]
    assert [peer["id"] for peer in (await client.get("/peers")).json()["peers"]] == ["a", "b"]


async def test_a_registration_says_when_it_expires_and_a_second_one_replaces_it(client: httpx.AsyncClient) -> None:
    for port in (1, 2):
        entry = {"id": "a", "url": f"http://127.0.0.1:{port}/", "functions": []}
        assert (await client.post("/register", json=entry)).json()["expires_in_s"] > 60
    assert [peer["url"] for peer in (await client.get("/peers")).json()["peers"]] == ["http://127.0.0.1:2/"]


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[::1]:9009/",
        "http://[::ffff:10.0.0.1]/",
        "http://0x0a.0.0.1/",
        "http://user:secret@127.0.0.1/",
        "http://no-such-host.invalid/",
    ],
)
async def test_a_url_outside_the_allowed_networks_is_refused(client: httpx.AsyncClient, url: str) -> None:
    entry: dict[str, object] = {"id": "a", "url": url}
    for each in (entry, entry | {"functions": []}):
        assert (await client.post("/register", json=each)).status_code == 400
    assert (await client.get("/peers")).json() == {"peers": []}


async def test_without_allowed_networks_no_card_is_fetched_from_the_loopback(redis_url: str) -> None:
    requests: list[str] = []
    async with collector(redis_url) as client, agent({}, requests) as url:
        assert (await client.post("/register", json={"id": "a", "url": url})).status_code == 400
    assert requests == []


async def test_urls_in_a_card_are_held_to_the_same_rules(client: httpx.AsyncClient) -> None:
    for card in (
        {"url": "http://169.254.169.254/"},
        {"supportedInterfaces": [{"url": "http://10.0.0.1/"}]},
        {"additionalInterfaces": [{"url": "file:///etc/passwd"}]},
    ):
        async with agent(card) as url:
            assert (await client.post("/register", json={"id": "a", "url": url})).status_code == 400


async def test_a_redirect_is_not_followed(client: httpx.AsyncClient) -> None:
    requests: list[str] = []
    app = FastAPI()
    async with agent({}, requests) as elsewhere:

        @app.get("/.well-known/agent-card.json")
        async def redirect() -> Response:
            return Response(status_code=302, headers={"location": f"{elsewhere}/.well-known/agent-card.json"})

        async with served(app) as url:
            assert (await client.post("/register", json={"id": "a", "url": url})).status_code == 400
    assert requests == []


async def test_an_agent_whose_card_is_too_large_is_refused(client: httpx.AsyncClient) -> None:
    async with agent({"description": "x" * 1_000_000}) as url:
        assert (await client.post("/register", json={"id": "a", "url": url})).status_code == 400


async def test_a_caller_over_the_registration_rate_gets_429(redis_url: str) -> None:
    async with collector(redis_url, allowed_peer_networks=LOOPBACK, registrations_per_minute=3) as client:
        answers = [
            await client.post("/register", json={"id": f"a{i}", "url": "http://127.0.0.1/", "functions": []})
            for i in range(5)
        ]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


async def test_a_caller_registers_a_limited_number_of_agents_and_may_renew_them(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord.storage.redis.registry.MAX_AGENTS_PER_CALLER", 2)
    async with collector(redis_url, allowed_peer_networks=LOOPBACK) as client:
        entry = {"url": "http://127.0.0.1/", "functions": []}
        statuses = [(await client.post("/register", json=entry | {"id": name})).status_code for name in "abca"]
    assert statuses == [201, 201, 429, 201]
    async with connect(redis_url) as storage:
        assert [each.id for each in await storage.registry.agents(OPEN_SCOPE)] == ["a", "b"]
