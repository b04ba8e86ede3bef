"""Participants whose answers are none, or do not end, or say that something goes on for ever."""

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack, suppress
from typing import Any, Final

import httpx

from attacks.attack import expect
from attacks.client import Infiltrated, client_of, honest, infiltrated
from attacks.target import Target
from tests.security.hostile import NO_CARD, answering, saying, stalling
from tests.serving import Serve, listening

JSON: Final = "application/json"
RESULT: Final = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "something"}]}
"""It would be graded as right."""


def _rpc(request_id: object, result: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()


NO_ANSWERS: Final = {
    "empty": answering(b""),
    "html": answering(b"<html><body>something</body></html>", "text/html"),
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "redirect": answering(b"", status="302 Found\r\nlocation: http://127.0.0.1:9/"),
    "deep": answering(b"[" * 500_000),
    "truncated": answering(_rpc(1, RESULT)[:-20]),
    "another id": answering(_rpc("another", RESULT)),
    "no JSON-RPC": answering(b'{"text": "something"}'),
    "list": answering(b'["something"]'),
    "number": answering(b"1" * 5000),
    "status 600": answering(_rpc(1, RESULT), status="600 Beyond"),
    "status 999": answering(_rpc(1, RESULT), status="999 Beyond"),
    "no HTTP": b"something\r\n\r\n",
    "compressed": answering(b"\x1f\x8b\x08\x00", f"{JSON}\r\ncontent-encoding: gzip"),
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
    "long head": b"HTTP/1.1 200 OK\r\nx: " + b"x" * 2**20 + b"\r\n\r\n",
    "header that breaks": b"HTTP/1.1 200 OK\r\nx: a\rset-cookie: y\x00\r\ncontent-length: 0\r\n\r\n",
    "endless event": b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: " + b"x" * 17 * 2**20,
    "cut event": b'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {"result": ',
}
"""What a participant answers to every call, by what it is."""

NO_RESULTS: Final = {
    **{kind: answer for kind, answer in NO_ANSWERS.items() if kind != "another id"},
    "deep within": answering(_rpc(1, RESULT).replace(b'"something"', b"[" * 120 + b"1" + b"]" * 120)),
    "wrong within": answering(_rpc(1, {"task": True})),
}
"""What it answers to the gateway's own call, which has a connection to itself and so no use for an id."""


async def no_answers_to_calls(target: Target) -> str:
    """Answers a participant's call in nineteen ways that are no answer of A2A."""
    async with AsyncExitStack() as exits:
        others = {
            name: await exits.enter_async_context(listening(saying(answer), target.host))
            for name, answer in NO_ANSWERS.items()
        }
        inside = await exits.enter_async_context(infiltrated(target, others))
        statuses = Counter(await asyncio.gather(*(_status_of(inside, name) for name in others)))
        trial = (await inside.end()).trial
    expect(500 not in statuses, f"the proxy failed: {dict(statuses)}")
    answered = {call["callee"] for call in trial["calls"] if call["caller"] == "spy" and not call["error"]}
    called = {call["callee"] for call in trial["calls"] if call["caller"] == "spy"}
    expect(not answered, f"taken for answers: {', '.join(sorted(answered))}")
    expect(called == set(others), f"not in the row: {', '.join(sorted(set(others) - called))}")
    return f"{len(others)} calls failed, and so they are in the row"


async def _status_of(inside: Infiltrated, callee: str) -> int:
    try:
        return (await inside.call(callee)).status_code
    except httpx.RemoteProtocolError:
        return 0


async def no_answers_to_tasks(target: Target) -> str:
    """Answers the gateway's own call in twenty ways that are no answer of A2A, or cannot be read."""
    async with AsyncExitStack() as exits:
        client = await exits.enter_async_context(client_of(target))
        others = {
            name: await exits.enter_async_context(listening(saying(answer, card=None), target.host))
            for name, answer in NO_RESULTS.items()
        }
        found = await asyncio.gather(*(client.assess({name: url}, trial_timeout_s=5) for name, url in others.items()))
    for name, assessed in zip(others, found, strict=True):
        expect("internal error" not in assessed.text, f"{name}: {assessed.text}")
        score = assessed.row["score"] if assessed.row is not None else None
        expect(not score, f"{name} is worth {score}")
    return (
        ", ".join(f"{n} {state}" for state, n in Counter(each.state for each in found).items()) + ", none with points"
    )


async def stalled_answers(target: Target) -> str:
    """Begins 24 answers of 16 MB and does not end them, while another participant is called."""
    length = 16 * 2**20 - 1
    async with (
        listening(stalling(b"[" * (length - 1), length), target.host) as flood,
        honest(target) as friend,
        infiltrated(target, {"flood": flood, "honest": friend}) as inside,
    ):
        calls = [asyncio.create_task(inside.call("flood")) for _ in range(24)]
        await asyncio.wait(calls, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(calls, timeout=2)
        ended = Counter(call.result().status_code for call in calls if call.done())
        resident = target.resident_mib()
        heard = await inside.call("honest")
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    expect(heard.status_code == 200, f"another's call meanwhile: {heard.status_code}")
    expect(set(ended) == {503}, f"the calls that ended, by status: {dict(ended)}")
    memory = "" if resident is None else f"; the gateway took {resident} MiB"
    return f"{ended[503]} of {len(calls)} refused with 503; another's call was answered{memory}"


def _always_working(ends: bool) -> Serve:
    """Answers every call with the same task. With `ends`, `tasks/get` says that the task has ended."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            writer.write(NO_CARD)
        else:
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            asked = json.loads(await reader.readexactly(length))
            state = "completed" if ends and asked["method"] == "tasks/get" else "working"
            task = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}}
            writer.write(answering(_rpc(asked["id"], task)))
        await writer.drain()
        writer.close()

    return serve


async def one_task_for_all(target: Target) -> str:
    """Answers five calls with `working` and one task id; the caller asks for it, once with an end and once without."""
    seen = []
    for ends in (True, False):
        async with (
            listening(_always_working(ends), target.host) as lazy,
            infiltrated(target, {"lazy": lazy}) as inside,
        ):
            for _ in range(5):
                expect((await inside.call("lazy")).status_code == 200, "a call was not carried")
            body = {"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"id": "t"}}
            await inside.client.http.post(inside.door_to("lazy"), json=body)
            trial = (await inside.end(within_s=30)).trial
        calls = [call for call in trial["calls"] if call["callee"] == "lazy"]
        expect(len(calls) == 5, f"{len(calls)} of five calls are in the row")
        seen.append(sum(bool(call["error"]) for call in calls))
    expect(seen[1] == 5, f"{5 - seen[1]} calls that never ended count as answered")
    return "five calls in the row each time; without an end, each failed"


async def silence(target: Target) -> str:
    """Never answers: a call that its caller gives up, and the gateway's own task."""
    async with (
        listening(saying(b"", card=None, ends=False), target.host) as silent,
        client_of(target) as client,
        infiltrated(target, {"silent": silent}) as inside,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}
        with suppress(httpx.ReadTimeout):
            await inside.client.http.post(inside.door_to("silent"), json=body, timeout=1)
        await inside.end(within_s=30)
        assessed = await client.assess({"silent": silent}, trial_timeout_s=3, within_s=30)
    expect(not (assessed.row or {}).get("score"), "silence is worth points")
    return f"both assessments ended; the silent one's is {assessed.state}"
