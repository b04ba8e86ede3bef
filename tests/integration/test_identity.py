"""Identity at the proxy: a participant acts only as itself in its own assessment, and no other agent gets its token."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import httpx
import pytest
from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import SecretStr

from concord.a2a import AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle
from concord.agent.messenger import Messenger
from concord.trace.report import unpack
from concord.trust.redaction import TOKEN_PREFIX
from concord.trust.tokens import TokenIssuer
from concord.wire.assignment import ASSIGNMENT_KEY
from tests.kit.logs import logging_to
from tests.kit.observed import (
    SECRET,
    RunningGateway,
    TrialParticipant,
    agent_answering,
    running_gateway,
    send,
)
from tests.kit.ports import free_port
from tests.kit.serving import served_agent

TOKEN = f"{TOKEN_PREFIX}eyJ"
CARD = ".well-known/agent-card.json"


@pytest.fixture
async def gateway(redis_url: str, tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with running_gateway(redis_url, tmp_path) as opened:
        yield opened


async def echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(f"you said {message.text}")


def tampered(participant: TrialParticipant) -> str:
    head, payload, signature = participant.token.split(".")
    return f"{head}.{payload}.{signature[::-1]}"


def foreign(participant: TrialParticipant) -> str:
    return (
        TokenIssuer([SecretStr("another assessor's secret, as long as one")])
        .issue(participant.claims)
        .get_secret_value()
    )


@pytest.mark.parametrize("kind", ["nonsense", "tampered", "foreign", "expired"])
async def test_a_call_with_an_invalid_token_gets_401_for_any_callee_and_is_not_recorded(
    gateway: RunningGateway, kind: str
) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        mine = participants["a"]
        expired = gateway.participant(mine.claims.assessment_id, mine.claims.trace_id, "a", ttl_s=-60).token
        token = {"nonsense": "x", "tampered": tampered(mine), "foreign": foreign(mine), "expired": expired}[kind]
        for callee in ("b", "nobody"):
            base = f"{gateway.url}/a2a/{token}/{callee}/"
            for answer in (await http.get(base + CARD), await http.post(base, json=send("message/send"))):
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert token not in answer.text or kind == "nonsense"
    assert await gateway.reports(mine.claims.trace_id) == []


async def test_the_recorded_caller_is_the_tokens_agent_whatever_the_message_says(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url, "c": url})
        claimed = participants["c"].assignment().for_call("0123456789abcdef", "b", SecretStr(participants["c"].token))
        metadata = claimed.metadata() | {"agent_name": "c"}
        await http.post(participants["a"].url_of("b"), json=send("message/send", metadata=metadata))
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert report.step.additional_attributes["agent_name"] == "a"


async def test_a_token_reaches_no_other_assessment(gateway: RunningGateway) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        ours = await gateway.trial({"a": url, "b": url})
        theirs = await gateway.trial({"a": url, "secret_agent": url})
        for agent_id in ("secret_agent", "stranger"):
            for answer in (
                await http.get(ours["a"].url_of(agent_id) + CARD),
                await http.post(ours["a"].url_of(agent_id), json=send("message/send")),
            ):
                assert (answer.status_code, answer.json()) == (404, {"detail": "no such agent in this assessment"})
    assert await gateway.reports(theirs["a"].claims.trace_id) == []


async def test_the_callees_token_is_removed_from_an_answer_that_repeats_the_request(
    gateway: RunningGateway,
) -> None:
    seen: list[str] = []

    async def repeat(request: Request) -> Response:
        document = await request.json()
        seen.append(document["params"]["message"]["metadata"][ASSIGNMENT_KEY]["token"])
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": document["params"]["message"]})

    async with (
        agent_answering(repeat) as b,
        served_agent(echo) as c,
        httpx.AsyncClient(timeout=60) as http,
    ):
        participants = await gateway.trial({"a": b, "b": b, "c": c})
        for callee in ("b", "c"):
            for method in ("message/send", "message/stream"):
                answer = await http.post(participants["a"].url_of(callee), json=send(method))
                assert "hello" in answer.text
                assert TOKEN not in answer.text
    assert set(seen) == {participants["b"].token}


async def test_the_callers_token_is_removed_from_the_request(gateway: RunningGateway) -> None:
    received: list[str] = []

    async def listen(request: Request) -> Response:
        received.append(str(request.headers) + str(request.url) + (await request.body()).decode())
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}})

    async with agent_answering(listen) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        mine = participants["a"]
        body = send("message/send", text=f"answer me at {mine.url_of('a')}", metadata={"theirs": {"token": mine.token}})
        headers = {"authorization": f"Bearer {mine.token}", "referer": mine.url_of("b"), "x-kept": "as it is"}
        await http.post(mine.url_of("b"), json=body, headers=headers)
    assert mine.token not in received[0]
    assert participants["b"].token in received[0]
    assert "as it is" in received[0]


async def test_failed_calls_leave_no_token_in_logs_or_storage(redis_url: str, tmp_path: Path) -> None:
    async def rude(request: Request) -> Response:
        raise RuntimeError(f"I do not like {request.headers.get('referer')}")

    log = tmp_path / "gateway.log"
    async with AsyncExitStack() as running:
        running.enter_context(logging_to(log, "DEBUG"))
        gateway = await running.enter_async_context(running_gateway(redis_url, tmp_path))
        b = await running.enter_async_context(served_agent(echo))
        c = await running.enter_async_context(agent_answering(rude))
        http = await running.enter_async_context(httpx.AsyncClient(timeout=60))
        messenger = await running.enter_async_context(Messenger(lambda *_: None))
        gone = f"http://127.0.0.1:{free_port()}/"
        participants = await gateway.trial({"a": b, "b": b, "rude": c, "gone": gone, "odd": "http://[::1"})
        mine = participants["a"]
        for callee in ("b", "rude", "gone", "odd", "nobody"):
            url = mine.url_of(callee)
            await http.post(url, json=send("message/send", text=f"see {url}"))
            await http.get(f"{url}no/such/place")
            with suppress(AgentUnreachableError, RemoteError):
                await messenger.send(url, text="x", assignment=mine.assignment(), callee_id=callee)
        await gateway.reports(mine.claims.trace_id, 8)
        bodies = [unpack(batch.body) async for batch in gateway.storage.traces.batches(mine.claims.trace_id)]
        kept = [await gateway.storage.redis.dump(name) async for name in gateway.storage.redis.scan_iter()]
    logged = log.read_text()
    assert "I do not like" in logged
    for text in (logged.encode(), *bodies, *filter(None, kept)):
        assert TOKEN.encode() not in text
    assert b"/a2a/-/b/" in b"".join(bodies)


async def test_tokens_signed_with_the_previous_secret_stay_valid(redis_url: str, tmp_path: Path) -> None:
    new = SecretStr(f"a-new-secret-that-is-long-enough-too,{SECRET.get_secret_value()}")
    async with running_gateway(redis_url, tmp_path, token_secret=new) as gateway, served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        async with httpx.AsyncClient(timeout=60) as http:
            assert (await http.post(participants["a"].url_of("b"), json=send("message/send"))).status_code == 200
