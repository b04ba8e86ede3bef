"""Identity at the proxy: a participant acts as itself in its own assessment, and no token gets to anybody else."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import SecretStr

from concord.a2a import AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle
from concord.agent.extensions import ASSIGNMENT_KEY
from concord.agent.messenger import Messenger
from concord.trace.report import unpack
from concord.trust.redaction import TOKEN_PREFIX
from concord.trust.tokens import TokenIssuer
from tests.integration.observed import SECRET, House, Seat, agent_that_answers, house, house_process, send
from tests.redis_servers import free_port
from tests.serving import served_agent

TOKEN = f"{TOKEN_PREFIX}eyJ"
CARD = ".well-known/agent-card.json"


@pytest.fixture
async def gateway(redis_url: str, tmp_path: Path) -> AsyncIterator[House]:
    async with house(redis_url, tmp_path) as opened:
        yield opened


async def echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(f"you said {message.text}")


def tampered(seat: Seat) -> str:
    head, payload, signature = seat.token.split(".")
    return f"{head}.{payload}.{signature[::-1]}"


def foreign(seat: Seat) -> str:
    return TokenIssuer([SecretStr("another assessor's secret, as long as one")]).issue(seat.claims).get_secret_value()


@pytest.mark.parametrize("kind", ["nonsense", "tampered", "foreign", "expired"])
async def test_without_a_good_token_nothing_is_carried_and_nothing_learnt(gateway: House, kind: str) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        seats = await gateway.trial({"a": url, "b": url})
        mine = seats["a"]
        expired = gateway.seat(mine.claims.assessment_id, mine.claims.trace_id, "a", ttl_s=-60).token
        token = {"nonsense": "x", "tampered": tampered(mine), "foreign": foreign(mine), "expired": expired}[kind]
        for callee in ("b", "nobody"):
            base = f"{gateway.url}/a2a/{token}/{callee}/"
            for answer in (await http.get(base + CARD), await http.post(base, json=send("message/send"))):
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert token not in answer.text or kind == "nonsense"
    assert await gateway.reports(mine.claims.trace_id) == []


async def test_who_called_is_whom_the_token_names_whatever_the_message_says(gateway: House) -> None:
    async with served_agent(echo) as url, httpx.AsyncClient(timeout=60) as http:
        seats = await gateway.trial({"a": url, "b": url, "c": url})
        claimed = seats["c"].assignment().for_call("0123456789abcdef", "b", SecretStr(seats["c"].token))
        metadata = claimed.metadata() | {"agent_name": "c"}
        await http.post(seats["a"].url_of("b"), json=send("message/send", metadata=metadata))
        (report,) = await gateway.reports(seats["a"].claims.trace_id, 1)
    assert report.step.additional_attributes["agent_name"] == "a"


async def test_a_token_reaches_no_other_assessment(gateway: House) -> None:
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


async def test_the_caller_never_learns_its_callees_token_though_the_callee_repeats_what_it_was_sent(
    gateway: House,
) -> None:
    seen: list[str] = []

    async def repeat(request: Request) -> Response:
        document = await request.json()
        seen.append(document["params"]["message"]["metadata"][ASSIGNMENT_KEY]["token"])
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": document["params"]["message"]})

    async with (
        agent_that_answers(repeat) as b,
        served_agent(echo) as c,
        httpx.AsyncClient(timeout=60) as http,
    ):
        seats = await gateway.trial({"a": b, "b": b, "c": c})
        for callee in ("b", "c"):
            for method in ("message/send", "message/stream"):
                answer = await http.post(seats["a"].url_of(callee), json=send(method))
                assert "hello" in answer.text
                assert TOKEN not in answer.text
    assert set(seen) == {seats["b"].token}


async def test_the_callee_never_learns_its_callers_token(gateway: House) -> None:
    received: list[str] = []

    async def listen(request: Request) -> Response:
        received.append(str(request.headers) + str(request.url) + (await request.body()).decode())
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}})

    async with agent_that_answers(listen) as url, httpx.AsyncClient(timeout=60) as http:
        seats = await gateway.trial({"a": url, "b": url})
        mine = seats["a"]
        body = send("message/send", text=f"answer me at {mine.url_of('a')}", metadata={"theirs": {"token": mine.token}})
        headers = {"authorization": f"Bearer {mine.token}", "referer": mine.url_of("b"), "x-kept": "as it is"}
        await http.post(mine.url_of("b"), json=body, headers=headers)
    assert mine.token not in received[0]
    assert seats["b"].token in received[0]
    assert "as it is" in received[0]


async def test_no_token_is_logged_or_stored_whatever_goes_wrong(redis_url: str, tmp_path: Path) -> None:
    async def rude(request: Request) -> Response:
        raise RuntimeError(f"I do not like {request.headers.get('referer')}")

    async with (
        house_process(redis_url, tmp_path) as gateway,
        served_agent(echo) as b,
        agent_that_answers(rude) as c,
        httpx.AsyncClient(timeout=60) as http,
        Messenger(lambda *_: None) as messenger,
    ):
        gone = f"http://127.0.0.1:{free_port()}/"
        seats = await gateway.trial({"a": b, "b": b, "rude": c, "gone": gone, "odd": "http://[::1"})
        mine = seats["a"]
        for callee in ("b", "rude", "gone", "odd", "nobody"):
            url = mine.url_of(callee)
            await http.post(url, json=send("message/send", text=f"see {url}"))
            await http.get(f"{url}no/such/place")
            with suppress(AgentUnreachableError, RemoteError):
                await messenger.send(url, text="x", assignment=mine.assignment(), callee_id=callee)
        await gateway.reports(mine.claims.trace_id, 8)
        bodies = [unpack(batch.body) async for batch in gateway.storage.traces.batches(mine.claims.trace_id)]
        kept = [await gateway.storage.redis.dump(name) async for name in gateway.storage.redis.scan_iter()]
    logged = (tmp_path / "gateway.log").read_text()
    assert "Started server process" in logged
    for text in (logged.encode(), *bodies, *filter(None, kept)):
        assert TOKEN.encode() not in text
    assert b"/a2a/-/b/" in b"".join(bodies)


async def test_a_secret_can_be_replaced_while_an_assessment_runs(redis_url: str, tmp_path: Path) -> None:
    new = SecretStr(f"a-new-secret-that-is-long-enough-too,{SECRET.get_secret_value()}")
    async with house(redis_url, tmp_path, token_secret=new) as gateway, served_agent(echo) as url:
        seats = await gateway.trial({"a": url, "b": url})
        async with httpx.AsyncClient(timeout=60) as http:
            assert (await http.post(seats["a"].url_of("b"), json=send("message/send"))).status_code == 200
