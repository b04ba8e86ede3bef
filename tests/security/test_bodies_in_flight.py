"""No participant fills the gateway's memory with bodies that it begins and does not end."""

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

from concord.assessment.roster import Roster, RosterEntry
from concord.trace.observation import GATEWAY, REFUSED_BY
from concord_evaluator.trace import carried_calls
from concord_gateway.proxy.bodies import Bodies, Held, NoRoomError
from tests.integration.observed import House, Seat, agent_that_answers, house, send
from tests.security.hostile import stalling
from tests.serving import listening

BUDGET = 1_600_000
SHARE = BUDGET // 4
RESULT = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "here"}]}


@pytest.fixture
async def gateway(redis_url: str, tmp_path: Path) -> AsyncIterator[House]:
    async with house(redis_url, tmp_path, body_budget_bytes=BUDGET, body_idle_s=60) as opened:
        yield opened


@pytest.fixture
async def hasty(redis_url: str, tmp_path: Path) -> AsyncIterator[House]:
    """A gateway that waits for no body."""
    async with house(redis_url, tmp_path, body_budget_bytes=BUDGET, body_idle_s=0.3) as opened:
        yield opened


async def here(_: Request) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": RESULT})


@asynccontextmanager
async def begun_post(seat: Seat, callee: str, length: int, begun: bytes) -> AsyncIterator[asyncio.StreamReader]:
    """A request of this length, begun; its answer is still to be read."""
    url = httpx.URL(seat.url_of(callee))
    reader, writer = await asyncio.open_connection(url.host, url.port, limit=1000)
    writer.write(f"POST {url.path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode() + begun)
    try:
        await writer.drain()
        yield reader
    finally:
        writer.close()


async def test_answers_that_stall_take_no_more_than_a_share_and_crowd_out_nobody_else(gateway: House) -> None:
    async with (
        listening(stalling(b"[" * (SHARE // 2))) as flood,
        agent_that_answers(here) as honest,
        httpx.AsyncClient(timeout=30) as http,
    ):
        seats = await gateway.trial({"a": honest, "flood": flood, "honest": honest})
        calls = [
            asyncio.create_task(http.post(seats["a"].url_of("flood"), json=send("message/send"))) for _ in range(8)
        ]
        answers = [await answered for answered in islice(asyncio.as_completed(calls), 6)]
        refused = await gateway.reports(seats["a"].claims.trace_id, 6)
        heard = await http.post(seats["a"].url_of("honest"), json=send("message/send"))
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        seen = [each async for each in gateway.storage.traces.batches(seats["a"].claims.trace_id)]
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in answers} == {(503, "1")}
    assert heard.json()["result"] == RESULT
    assert {report.step.additional_attributes[REFUSED_BY] for report in refused} == {GATEWAY}
    roster = Roster(RosterEntry(id=name, url=url) for name, url in (("a", honest), ("flood", flood)))
    assert not any(carried_calls(seen[:6], roster).calls.values())


async def test_requests_that_stall_take_no_more_than_a_share_and_crowd_out_nobody_else(
    redis_url: str, tmp_path: Path
) -> None:
    size = SHARE // 2
    async with (
        house(redis_url, tmp_path, body_budget_bytes=BUDGET, body_idle_s=60, max_body_bytes=10 * SHARE) as gateway,
        agent_that_answers(here) as url,
        httpx.AsyncClient(timeout=30) as http,
    ):
        seats = await gateway.trial({"flood": url, "honest": url, "other": url})
        async with AsyncExitStack() as stalled:
            for _ in range(3):  # one too many
                await stalled.enter_async_context(begun_post(seats["flood"], "honest", 2 * size, b" " * (size - 1)))
            refused = await gateway.reports(seats["flood"].claims.trace_id, 1)
            answer = await http.post(seats["flood"].url_of("honest"), content=b" " * size)
            heard = await http.post(seats["other"].url_of("honest"), json=send("message/send"))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert heard.json()["result"] == RESULT
    assert refused[0].step.additional_attributes[REFUSED_BY] == GATEWAY


async def test_an_answer_that_begins_and_stalls_ends_as_the_callees_failure(hasty: House) -> None:
    async with listening(stalling(b'{"jsonrpc"')) as url, httpx.AsyncClient(timeout=30) as http:
        seats = await hasty.trial({"a": url, "b": url})
        answer = await http.post(seats["a"].url_of("b"), json=send("message/send"))
        (report,) = await hasty.reports(seats["a"].claims.trace_id, 1)
    assert (answer.status_code, report.step.failure) == (504, "the agent did not answer in time")
    assert REFUSED_BY not in report.step.additional_attributes


async def test_a_request_that_begins_and_stalls_is_answered(hasty: House) -> None:
    async with agent_that_answers(here) as url:
        seats = await hasty.trial({"a": url, "b": url})
        async with begun_post(seats["a"], "b", 1000, b'{"jsonrpc"') as reader, asyncio.timeout(30):
            assert b" 408 " in await reader.readline()


async def test_who_does_not_take_its_answer_lets_go_of_the_room_for_it(redis_url: str, tmp_path: Path) -> None:
    size = 12_000_000  # more than any socket's buffers hold

    async def large(_: Request) -> Response:
        return Response(b" " * size, media_type="application/json")

    body = json.dumps(send("message/send")).encode()
    async with (
        house(redis_url, tmp_path, body_budget_bytes=4 * size, body_idle_s=0.3) as gateway,
        agent_that_answers(large) as url,
        httpx.AsyncClient(timeout=30) as http,
        AsyncExitStack() as callers,
    ):
        seats = await gateway.trial({"a": url, "b": url})
        await callers.enter_async_context(begun_post(seats["a"], "b", len(body), body))
        (report,) = await gateway.reports(seats["a"].claims.trace_id, 1)
        answer = await http.post(seats["a"].url_of("b"), content=body)
    assert report.step.failure == "the caller does not read its answer"
    assert len(answer.content) == size


async def test_the_first_byte_and_the_gaps_of_a_stream_may_take_longer_than_a_pause(hasty: House) -> None:
    async def slow(request: Request) -> Response:
        await asyncio.sleep(0.6)

        async def events() -> AsyncIterator[bytes]:
            yield b": it begins\n\n"
            await asyncio.sleep(0.6)
            yield b'data: {"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "parts": [{"text": "end"}]}}\n\n'

        streamed = "message/stream" in str(await request.json())
        return StreamingResponse(events(), media_type="text/event-stream") if streamed else await here(request)

    async with agent_that_answers(slow) as url, httpx.AsyncClient(timeout=30) as http:
        seats = await hasty.trial({"a": url, "b": url})
        whole = await http.post(seats["a"].url_of("b"), json=send("message/send"))
        stream = await http.post(seats["a"].url_of("b"), json=send("message/stream"))
    assert (whole.status_code, "end" in stream.text) == (200, True)


async def test_an_answer_of_any_length_comes_whole_with_its_length(gateway: House) -> None:
    async def long(request: Request) -> Response:
        text = (await request.json())["params"]["message"]["parts"][0]["text"]
        message = RESULT | {"parts": [{"kind": "text", "text": "x" * int(text)}]}
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": message})

    async with agent_that_answers(long) as url, httpx.AsyncClient(timeout=30) as http:
        seats = await gateway.trial({"a": url, "b": url})
        for size in (0, 65_000, 65_536, 300_000):
            direct = await http.post(url, json=send("message/send", text=str(size)))
            carried = await http.post(seats["a"].url_of("b"), json=send("message/send", text=str(size)))
            assert carried.content == direct.content
            assert carried.headers["content-length"] == direct.headers["content-length"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 60)), max_size=60))
def test_whatever_is_held_and_let_go_the_budget_and_every_share_hold(moves: list[tuple[int, int, int]]) -> None:
    bodies = Bodies(budget_bytes=100)
    held: dict[tuple[int, int], Held] = {}
    sizes: dict[tuple[int, int], int] = {}
    for sender, number, size in moves:
        body = held.setdefault((sender, number), bodies.of("t", str(sender)))
        try:
            body.resize(size)
            sizes[sender, number] = size
        except NoRoomError:
            pass
        assert bodies.in_flight == sum(sizes.values()) <= 100
        assert sum(taken for (each, _), taken in sizes.items() if each == sender) <= 25
    for body in held.values():
        body.release()
        body.release()
    assert bodies.in_flight == 0
