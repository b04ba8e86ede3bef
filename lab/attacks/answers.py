"""Participants whose answers are invalid, never end, or say that their work goes on for ever."""

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack, suppress
from typing import Any, Final

import httpx

from lab.attacks.attack import expect
from lab.attacks.client import SpiedAssessment, assessment_with_spy, client_of, honest_participant
from lab.attacks.target import Target
from tests.kit.hostile import NO_CARD, answering, fixed_answer, stalled_answer
from tests.kit.serving import Serve, listening

JSON: Final = "application/json"
RESULT: Final = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "something"}]}
"""A valid result, which would be graded as right."""


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
"""Answers of a participant to every call, by kind."""

NO_RESULTS: Final = {
    **{kind: answer for kind, answer in NO_ANSWERS.items() if kind != "another id"},
    "deep within": answering(_rpc(1, RESULT).replace(b'"something"', b"[" * 120 + b"1" + b"]" * 120)),
    "wrong within": answering(_rpc(1, {"task": True})),
}
"""Answers to the gateway's own call. Its connection is its own, so that a wrong id is not an error there."""


async def no_answers_to_calls(target: Target) -> str:
    """Answers a participant's call in nineteen ways that are invalid in A2A."""
    async with AsyncExitStack() as exits:
        others = {
            name: await exits.enter_async_context(listening(fixed_answer(answer), target.host))
            for name, answer in NO_ANSWERS.items()
        }
        spied = await exits.enter_async_context(assessment_with_spy(target, others))
        statuses = Counter(await asyncio.gather(*(_status_of(spied, name) for name in others)))
        trial = (await spied.end()).trial
    expect(500 not in statuses, f"the proxy failed: {dict(statuses)}")
    answered = {call["callee"] for call in trial["calls"] if call["caller"] == "spy" and not call["error"]}
    called = {call["callee"] for call in trial["calls"] if call["caller"] == "spy"}
    expect(not answered, f"taken for answers: {', '.join(sorted(answered))}")
    expect(called == set(others), f"not in the row: {', '.join(sorted(set(others) - called))}")
    return f"{len(others)} calls failed, and so they are in the row"


async def _status_of(spied: SpiedAssessment, callee: str) -> int:
    try:
        return (await spied.call(callee)).status_code
    except httpx.RemoteProtocolError:
        return 0


async def no_answers_to_tasks(target: Target) -> str:
    """Answers the gateway's own call in twenty ways that are invalid in A2A or unreadable."""
    async with AsyncExitStack() as exits:
        client = await exits.enter_async_context(client_of(target))
        others = {
            name: await exits.enter_async_context(listening(fixed_answer(answer, card=None), target.host))
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
    """Begins 24 answers of 16 MB and never ends them, while another participant is called."""
    length = 16 * 2**20 - 1
    async with (
        listening(stalled_answer(b"[" * (length - 1), length), target.host) as flood,
        honest_participant(target) as friend,
        assessment_with_spy(target, {"flood": flood, "honest": friend}) as spied,
    ):
        calls = [asyncio.create_task(spied.call("flood")) for _ in range(24)]
        await asyncio.wait(calls, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(calls, timeout=2)
        ended = Counter(call.result().status_code for call in calls if call.done())
        resident = target.resident_mib()
        answer = await spied.call("honest")
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    expect(answer.status_code == 200, f"another's call meanwhile: {answer.status_code}")
    expect(set(ended) == {503}, f"the calls that ended, by status: {dict(ended)}")
    memory = "" if resident is None else f"; the gateway took {resident} MiB"
    return f"{ended[503]} of {len(calls)} refused with 503; another's call was answered{memory}"


def _always_working(ends: bool) -> Serve:
    """Answers every call with the same task. With `ends`, `tasks/get` says that the task is completed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            writer.write(NO_CARD)
        else:
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            document = json.loads(await reader.readexactly(length))
            state = "completed" if ends and document["method"] == "tasks/get" else "working"
            task = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}}
            writer.write(answering(_rpc(document["id"], task)))
        await writer.drain()
        writer.close()

    return serve


async def one_task_for_all(target: Target) -> str:
    """Answers five calls with one unfinished task, which its caller then finds ended once, and unfinished once."""
    seen = []
    for ends in (True, False):
        async with (
            listening(_always_working(ends), target.host) as lazy,
            assessment_with_spy(target, {"lazy": lazy}) as spied,
        ):
            for _ in range(5):
                expect((await spied.call("lazy")).status_code == 200, "a call was not carried")
            body = {"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"id": "t"}}
            await spied.client.http.post(spied.proxy_url_to("lazy"), json=body)
            trial = (await spied.end(within_s=30)).trial
        calls = [call for call in trial["calls"] if call["callee"] == "lazy"]
        expect(len(calls) == 5, f"{len(calls)} of five calls are in the row")
        seen.append(sum(bool(call["error"]) for call in calls))
    expect(seen[1] == 5, f"{5 - seen[1]} calls that never ended count as answered")
    return "five calls in the row each time; without an end, each failed"


async def silence(target: Target) -> str:
    """Never answers: neither a call, which its caller gives up, nor the gateway's own task."""
    async with (
        listening(fixed_answer(b"", card=None, ends=False), target.host) as silent,
        client_of(target) as client,
        assessment_with_spy(target, {"silent": silent}) as spied,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}
        with suppress(httpx.ReadTimeout):
            await spied.client.http.post(spied.proxy_url_to("silent"), json=body, timeout=1)
        await spied.end(within_s=30)
        assessed = await client.assess({"silent": silent}, trial_timeout_s=3, within_s=30)
    expect(not (assessed.row or {}).get("score"), "silence is worth points")
    return f"both assessments ended; the silent one's is {assessed.state}"
