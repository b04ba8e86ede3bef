"""The identity of reporters: a step's reporter is the holder of the token, who reads and writes only its own data."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from concord.storage.connection import Storage, connect
from concord.trust.proxy_urls import observed_peers
from concord.trust.tokens import Claims, TokenIssuer, TokenKeys, parse_secrets
from concord.wire.roster import RosterEntry
from concord_collector.registry import registration_token
from tests.kit.collectors import JSON, SECRET, batch, bearer, bearer_of, collector, reports, step


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with collector(redis_url, token_secret=SECRET, open=True) as client:
        yield client


@pytest.fixture
async def closed_client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with collector(redis_url, token_secret=SECRET, open=False) as client:
        yield client


async def test_the_reporter_is_the_tokens_agent_whatever_the_body_says(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    for forged in ("writer", "critic", "green-agent"):
        sent = batch(step(), batch_id=forged, reporter=forged)
        assert (await client.post("/traces", json=sent, headers=bearer("writer"))).status_code == 202
    assert {(report.reporter, report.authenticated) for report in await reports(storage)} == {("writer", True)}


async def test_an_open_collector_marks_reports_without_a_token_as_unauthenticated(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    assert (await client.post("/traces", json=batch(step()))).status_code == 202
    assert {(report.reporter, report.authenticated) for report in await reports(storage)} == {("writer", False)}


async def test_a_closed_collector_requires_a_token_at_every_endpoint(closed_client: httpx.AsyncClient) -> None:
    answers = [
        await closed_client.post("/traces", json=batch(step())),
        await closed_client.post("/v1/traces", json={}),
        await closed_client.post("/register", json={"id": "a", "url": "http://x", "functions": []}),
        await closed_client.get("/peers"),
    ]
    assert [answer.status_code for answer in answers] == [401] * 4
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer nonsense"},
        {"authorization": "Bearer"},
        {"authorization": "Basic d3JpdGVyOng="},
        bearer("writer", ttl_s=-60),
        {"authorization": bearer("writer")["authorization"][:-2] + "xx"},
    ],
    ids=["nonsense", "empty", "basic", "expired", "tampered"],
)
async def test_an_invalid_or_expired_token_is_refused_even_by_an_open_collector(
    client: httpx.AsyncClient, headers: dict[str, str], storage: Storage
) -> None:
    assert (await client.post("/traces", json=batch(step()), headers=headers)).status_code == 401
    assert (await client.post("/v1/traces", content=b"{}", headers=JSON | headers)).status_code == 401
    assert (await client.get("/peers", headers=headers)).status_code == 401
    assert await reports(storage) == []


async def test_a_token_is_refused_for_another_trace(client: httpx.AsyncClient, storage: Storage) -> None:
    sent = batch(step(trace_id="t2"), trace_id="t2")
    assert (await client.post("/traces", json=sent, headers=bearer("writer", "t1"))).status_code == 403
    assert await reports(storage, "t2") == []


async def test_two_reporters_may_use_the_same_batch_id(client: httpx.AsyncClient, storage: Storage) -> None:
    for agent in ("thief", "writer"):
        sent = batch(step(f"of {agent}"), batch_id="same")
        assert (await client.post("/traces", json=sent, headers=bearer(agent))).json()["accepted"] == 1
    assert {(report.reporter, report.step.step_id) for report in await reports(storage)} == {
        ("thief", "of thief"),
        ("writer", "of writer"),
    }


async def test_a_token_in_a_step_is_not_stored(client: httpx.AsyncClient, storage: Storage) -> None:
    headers = bearer("writer")
    token = headers["authorization"].split()[1]
    call = {"agent_invocation": {"agent_url": f"http://gateway/a2a/{token}/critic/", "agent_name": "critic"}}
    await client.post("/traces", json=batch(step(step_action=call), reporter=token[:64]), headers=headers)
    (report,) = await reports(storage)
    assert report.step.agent_call is not None
    assert report.step.agent_call.agent_url == "http://gateway/a2a/-/critic/"
    stored = [value async for name in storage.redis.scan_iter() for value in [await storage.redis.dump(name)]]
    assert stored
    assert not any(token.encode() in value for value in stored)


async def test_peers_are_those_of_the_tokens_assessment_at_proxy_urls_with_that_token(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    roster = [RosterEntry(id="critic", url="http://critic:9009/")]
    await storage.registry.register("a1", observed_peers(roster, "http://gateway:9009"))
    headers = bearer("writer")
    token = headers["authorization"].split()[1]
    for query in ({}, {"assessment_id": "a1"}):
        (peer,) = (await client.get("/peers", params=query, headers=headers)).json()["peers"]
        assert peer["url"] == f"http://gateway:9009/a2a/{token}/critic/"
    assert (await client.get("/peers", params={"assessment_id": "a2"}, headers=headers)).status_code == 403


async def test_a_standing_token_registers_its_own_agent_and_no_other(closed_client: httpx.AsyncClient) -> None:
    token_keys = TokenKeys(SecretStr(SECRET), _no_shared_secret, _now)
    standing = bearer_of(await registration_token(token_keys, "writer", days=1))
    other = {"id": "critic", "url": "http://8.8.8.8/", "functions": []}
    assert (await closed_client.post("/register", json=other, headers=standing)).status_code == 403
    assert (await closed_client.post("/register", json=other | {"id": "writer"}, headers=standing)).status_code == 201
    assert [each["id"] for each in (await closed_client.get("/peers", headers=standing)).json()["peers"]] == ["writer"]


async def test_a_standing_token_is_refused_for_an_assessments_peers_and_traces(
    closed_client: httpx.AsyncClient,
) -> None:
    standing = bearer_of(
        await registration_token(TokenKeys(SecretStr(SECRET), _no_shared_secret, _now), "writer", days=1)
    )
    assert (await closed_client.get("/peers", params={"assessment_id": "a1"}, headers=standing)).status_code == 403
    assert (await closed_client.post("/traces", json=batch(step()), headers=standing)).status_code == 403


async def test_a_trials_token_registers_no_agent(closed_client: httpx.AsyncClient) -> None:
    entry = {"id": "writer", "url": "http://8.8.8.8/", "functions": []}
    assert (await closed_client.post("/register", json=entry, headers=bearer("writer"))).status_code == 403


async def _no_shared_secret() -> str:
    raise AssertionError("a configured secret is enough")


async def _now() -> float:
    return time.time()


async def test_the_command_line_issues_standing_tokens(redis_url: str) -> None:
    command = [sys.executable, "-m", "concord_collector", "--issue-token", "writer"]
    environment = os.environ | {"REDIS_URL": redis_url}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    entry = {"id": "writer", "url": "http://8.8.8.8/", "functions": []}
    async with collector(redis_url, open=False) as client:
        headers = bearer_of(SecretStr(printed.decode().strip()))
        assert (await client.post("/register", json=entry, headers=headers)).status_code == 201


async def test_without_a_configured_secret_tokens_signed_with_the_shared_one_are_accepted(
    redis_url: str, storage: Storage
) -> None:
    async with collector(redis_url) as client:
        issuer = TokenIssuer(parse_secrets(await storage.secrets.token_secret()))
        headers = bearer_of(issuer.issue(Claims("a1", "t1", "writer", time.time() + 60)))
        assert (await client.post("/traces", json=batch(step()), headers=headers)).status_code == 202
    assert [report.authenticated for report in await reports(storage)] == [True]
