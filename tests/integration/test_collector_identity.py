"""Who reports: the reporter of a step is who authenticated, and nobody reads or writes what is another's."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from concord.assessment.roster import RosterEntry
from concord.storage.redis import Storage, connect
from concord.trust.proxy_urls import observed_peers
from concord.trust.token_keys import TokenKeys
from concord.trust.tokens import Claims, TokenIssuer, parse_secrets
from concord_collector.registry_endpoints import registration_token
from tests.integration.collectors import JSON, SECRET, batch, bearer, bearer_of, collector, reports, step


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with collector(redis_url, token_secret=SECRET, open=True) as client:
        yield client


@pytest.fixture
async def closed(redis_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with collector(redis_url, token_secret=SECRET, open=False) as client:
        yield client


async def test_the_reporter_is_whom_the_token_names_whatever_the_body_says(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    for forged in ("writer", "critic", "green-agent"):
        sent = batch(step(), batch_id=forged, reporter=forged)
        assert (await client.post("/traces", json=sent, headers=bearer("writer"))).status_code == 202
    assert {(report.reporter, report.authenticated) for report in await reports(storage)} == {("writer", True)}


async def test_an_open_house_takes_reports_without_a_token_and_marks_them(
    client: httpx.AsyncClient, storage: Storage
) -> None:
    assert (await client.post("/traces", json=batch(step()))).status_code == 202
    assert {(report.reporter, report.authenticated) for report in await reports(storage)} == {("writer", False)}


async def test_a_closed_house_wants_a_token_everywhere(closed: httpx.AsyncClient) -> None:
    answers = [
        await closed.post("/traces", json=batch(step())),
        await closed.post("/v1/traces", json={}),
        await closed.post("/register", json={"id": "a", "url": "http://x", "functions": []}),
        await closed.get("/peers"),
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
async def test_a_token_that_is_none_of_ours_or_expired_is_refused_even_in_an_open_house(
    client: httpx.AsyncClient, headers: dict[str, str], storage: Storage
) -> None:
    assert (await client.post("/traces", json=batch(step()), headers=headers)).status_code == 401
    assert (await client.post("/v1/traces", content=b"{}", headers=JSON | headers)).status_code == 401
    assert (await client.get("/peers", headers=headers)).status_code == 401
    assert await reports(storage) == []


async def test_a_token_writes_to_its_own_trace_alone(client: httpx.AsyncClient, storage: Storage) -> None:
    sent = batch(step(trace_id="t2"), trace_id="t2")
    assert (await client.post("/traces", json=sent, headers=bearer("writer", "t1"))).status_code == 403
    assert await reports(storage, "t2") == []


async def test_nobody_can_take_anothers_batch_id(client: httpx.AsyncClient, storage: Storage) -> None:
    for agent in ("thief", "writer"):
        sent = batch(step(f"of {agent}"), batch_id="same")
        assert (await client.post("/traces", json=sent, headers=bearer(agent))).json()["accepted"] == 1
    assert {(report.reporter, report.step.step_id) for report in await reports(storage)} == {
        ("thief", "of thief"),
        ("writer", "of writer"),
    }


async def test_a_token_in_a_step_is_kept_nowhere(client: httpx.AsyncClient, storage: Storage) -> None:
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


async def test_peers_are_the_tokens_assessments_at_addresses_of_its_own(
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


async def test_with_a_standing_token_one_may_register_oneself_and_nobody_else(closed: httpx.AsyncClient) -> None:
    token_keys = TokenKeys(SecretStr(SECRET), _no_shared_secret)
    standing = bearer_of(await registration_token(token_keys, "writer", days=1))
    other = {"id": "critic", "url": "http://8.8.8.8/", "functions": []}
    assert (await closed.post("/register", json=other, headers=standing)).status_code == 403
    assert (await closed.post("/register", json=other | {"id": "writer"}, headers=standing)).status_code == 201
    assert [each["id"] for each in (await closed.get("/peers", headers=standing)).json()["peers"]] == ["writer"]


async def test_a_standing_token_opens_no_assessment(closed: httpx.AsyncClient) -> None:
    standing = bearer_of(await registration_token(TokenKeys(SecretStr(SECRET), _no_shared_secret), "writer", days=1))
    assert (await closed.get("/peers", params={"assessment_id": "a1"}, headers=standing)).status_code == 403
    assert (await closed.post("/traces", json=batch(step()), headers=standing)).status_code == 403


async def test_an_assessments_token_registers_nobody(closed: httpx.AsyncClient) -> None:
    entry = {"id": "writer", "url": "http://8.8.8.8/", "functions": []}
    assert (await closed.post("/register", json=entry, headers=bearer("writer"))).status_code == 403


async def _no_shared_secret() -> str:
    raise AssertionError("a configured secret is enough")


async def test_the_collectors_owner_gives_out_standing_tokens_by_the_command_line(redis_url: str) -> None:
    command = [sys.executable, "-m", "concord_collector", "--issue-token", "writer"]
    environment = os.environ | {"REDIS_URL": redis_url}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    entry = {"id": "writer", "url": "http://8.8.8.8/", "functions": []}
    async with collector(redis_url, open=False) as client:
        headers = bearer_of(SecretStr(printed.decode().strip()))
        assert (await client.post("/register", json=entry, headers=headers)).status_code == 201


async def test_without_a_configured_secret_the_one_that_the_stack_shares_is_good(
    redis_url: str, storage: Storage
) -> None:
    async with collector(redis_url) as client:
        issuer = TokenIssuer(parse_secrets(await storage.secrets.token_secret()))
        headers = bearer_of(issuer.issue(Claims("a1", "t1", "writer", time.time() + 60)))
        assert (await client.post("/traces", json=batch(step()), headers=headers)).status_code == 202
    assert [report.authenticated for report in await reports(storage)] == [True]
