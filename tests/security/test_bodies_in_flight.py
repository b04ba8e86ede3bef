"""Bodies in flight: no participant fills the gateway's memory with bodies that it begins and does not end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path

import httpx
import pytest
from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.attributes import GATEWAY, REFUSED_BY
from concord_gateway.proxy.limits import BudgetExhaustedError, ByteBudget, Reservation
from tests.kit.hostile import stalled_answer
from tests.kit.observed import RunningGateway, TrialParticipant, agent_answering, running_gateway, send
from tests.kit.serving import listening

BUDGET = 1_600_000
SHARE = BUDGET // 4
RESULT = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "here"}]}


@pytest.fixture
async def gateway(redis_url: str, tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with running_gateway(redis_url, tmp_path, body_budget_bytes=BUDGET, body_idle_s=60) as opened:
        yield opened


@pytest.fixture
async def impatient_gateway(redis_url: str, tmp_path: Path) -> AsyncIterator[RunningGateway]:
    """A gateway that hardly waits for the rest of a body."""
    async with running_gateway(redis_url, tmp_path, body_budget_bytes=BUDGET, body_idle_s=1) as opened:
        yield opened


async def answer_at_once(_: Request) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": RESULT})


@asynccontextmanager
async def begun_post(
    participant: TrialParticipant, callee: str, length: int, begun: bytes
) -> AsyncIterator[asyncio.StreamReader]:
    """A request with this content length, of which only `begun` is sent; yields a reader of the answer."""
    url = httpx.URL(participant.url_of(callee))
    reader, writer = await asyncio.open_connection(url.host, url.port, limit=1000)
    writer.write(f"POST {url.path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode() + begun)
    try:
        await writer.drain()
        yield reader
    finally:
        writer.close()


async def test_stalled_answers_are_held_to_their_senders_share_and_do_not_displace_others(
    gateway: RunningGateway,
) -> None:
    async with (
        listening(stalled_answer(b"[" * (SHARE // 2))) as flood,
        agent_answering(answer_at_once) as honest,
        httpx.AsyncClient(timeout=60) as http,
    ):
        participants = await gateway.trial({"a": honest, "flood": flood, "honest": honest})
        calls = [
            asyncio.create_task(http.post(participants["a"].url_of("flood"), json=send("message/send")))
            for _ in range(8)
        ]
        answers = [await answered for answered in islice(asyncio.as_completed(calls), 6)]
        refused = await gateway.reports(participants["a"].claims.trace_id, 6)
        honest_answer = await http.post(participants["a"].url_of("honest"), json=send("message/send"))
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in answers} == {(503, "1")}
    assert honest_answer.json()["result"] == RESULT
    assert {report.step.additional_attributes[REFUSED_BY] for report in refused} == {GATEWAY}


async def test_stalled_requests_are_held_to_their_senders_share_and_do_not_displace_others(
    redis_url: str, tmp_path: Path
) -> None:
    size = SHARE // 2
    async with (
        running_gateway(
            redis_url, tmp_path, body_budget_bytes=BUDGET, body_idle_s=60, max_body_bytes=10 * SHARE
        ) as gateway,
        agent_answering(answer_at_once) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        participants = await gateway.trial({"flood": url, "honest": url, "other": url})
        async with AsyncExitStack() as stalled:
            for _ in range(3):  # one more than the share has room for
                await stalled.enter_async_context(
                    begun_post(participants["flood"], "honest", 2 * size, b" " * (size - 1))
                )
            refused = await gateway.reports(participants["flood"].claims.trace_id, 1)
            answer = await http.post(participants["flood"].url_of("honest"), content=b" " * size)
            honest_answer = await http.post(participants["other"].url_of("honest"), json=send("message/send"))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert honest_answer.json()["result"] == RESULT
    assert refused[0].step.additional_attributes[REFUSED_BY] == GATEWAY


async def test_a_stalled_answer_times_out_as_the_callees_failure(impatient_gateway: RunningGateway) -> None:
    async with listening(stalled_answer(b'{"jsonrpc"')) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await impatient_gateway.trial({"a": url, "b": url})
        answer = await http.post(participants["a"].url_of("b"), json=send("message/send"))
        (report,) = await impatient_gateway.reports(participants["a"].claims.trace_id, 1)
    assert (answer.status_code, report.step.failure) == (504, "the agent did not answer in time")
    assert REFUSED_BY not in report.step.additional_attributes


async def test_a_stalled_request_gets_408(impatient_gateway: RunningGateway) -> None:
    async with agent_answering(answer_at_once) as url:
        participants = await impatient_gateway.trial({"a": url, "b": url})
        async with begun_post(participants["a"], "b", 1000, b'{"jsonrpc"') as reader, asyncio.timeout(60):
            assert b" 408 " in await reader.readline()


async def test_an_answer_that_its_caller_does_not_read_is_dropped_and_frees_its_memory(
    redis_url: str, tmp_path: Path
) -> None:
    size = 12_000_000  # more than the buffers of any socket

    async def large(_: Request) -> Response:
        return Response(b" " * size, media_type="application/json")

    body = json.dumps(send("message/send")).encode()
    async with (
        running_gateway(redis_url, tmp_path, body_budget_bytes=4 * size, body_idle_s=2) as gateway,
        agent_answering(large) as url,
        httpx.AsyncClient(timeout=60) as http,
        AsyncExitStack() as callers,
    ):
        participants = await gateway.trial({"a": url, "b": url})
        await callers.enter_async_context(begun_post(participants["a"], "b", len(body), body))
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
        answer = await http.post(participants["a"].url_of("b"), content=body)
    assert report.step.failure == "the caller does not read its answer"
    assert len(answer.content) == size


async def test_the_first_byte_and_pauses_in_a_stream_may_take_longer_than_the_idle_limit(
    impatient_gateway: RunningGateway,
) -> None:
    async def slow(request: Request) -> Response:
        await asyncio.sleep(1.5)

        async def events() -> AsyncIterator[bytes]:
            yield b": it begins\n\n"
            await asyncio.sleep(1.5)
            yield b'data: {"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "parts": [{"text": "end"}]}}\n\n'

        streamed = "message/stream" in str(await request.json())
        return (
            StreamingResponse(events(), media_type="text/event-stream") if streamed else await answer_at_once(request)
        )

    async with agent_answering(slow) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await impatient_gateway.trial({"a": url, "b": url})
        whole = await http.post(participants["a"].url_of("b"), json=send("message/send"))
        stream = await http.post(participants["a"].url_of("b"), json=send("message/stream"))
    assert (whole.status_code, "end" in stream.text) == (200, True)


async def test_an_answer_of_any_length_is_passed_on_whole_with_its_content_length(gateway: RunningGateway) -> None:
    async def long(request: Request) -> Response:
        text = (await request.json())["params"]["message"]["parts"][0]["text"]
        message = RESULT | {"parts": [{"kind": "text", "text": "x" * int(text)}]}
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": message})

    async with agent_answering(long) as url, httpx.AsyncClient(timeout=60) as http:
        participants = await gateway.trial({"a": url, "b": url})
        for size in (0, 65_000, 65_536, 300_000):
            direct = await http.post(url, json=send("message/send", text=str(size)))
            carried = await http.post(participants["a"].url_of("b"), json=send("message/send", text=str(size)))
            assert carried.content == direct.content
            assert carried.headers["content-length"] == direct.headers["content-length"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 60)), max_size=60))
def test_bodies_never_exceed_the_budget_or_a_senders_share(moves: list[tuple[int, int, int]]) -> None:
    budget = ByteBudget(budget_bytes=100)
    held: dict[tuple[int, int], Reservation] = {}
    sizes: dict[tuple[int, int], int] = {}
    for sender, number, size in moves:
        body = held.setdefault((sender, number), budget.of("t", str(sender)))
        try:
            body.resize(size)
            sizes[sender, number] = size
        except BudgetExhaustedError:
            pass
        assert budget.in_flight == sum(sizes.values()) <= 100
        assert sum(taken for (each, _), taken in sizes.items() if each == sender) <= 25
    for body in held.values():
        body.release()
        body.release()
    assert budget.in_flight == 0
