"""What an agent sends that nobody can read is its own failure, and ends nobody else's assessment."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from concord.a2a import A2AClient, AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle, fetch_card
from tests.security.hostile import answering, card_of, saying
from tests.security.stack import stack
from tests.serving import Serve, listening, served_agent

DEPTHS = (120, 900, 500_000)
"""More than Protobuf reads, more than anybody should write, and more than Python's JSON reads."""


def nested(depth: int) -> str:
    return "[" * depth + "1" + "]" * depth


def message(data: str) -> str:
    """An answer of 0.3 with this JSON as a data part."""
    parts = [{"kind": "text", "text": "something"}, {"kind": "data", "data": {"deep": 0}}]
    result: dict[str, Any] = {"kind": "message", "role": "agent", "messageId": "m", "parts": parts}
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).replace('"deep": 0', f'"deep": {data}')


UNREADABLE = [
    *(message(nested(depth)) for depth in DEPTHS),
    message("Infinity"),
    *("null", "true", "5", '"x"', "[]", "[1]", "[null]", "{}"),
    *(f'{{"jsonrpc": "2.0", "id": "1", "error": {value}}}' for value in ("null", "5", '"x"', "[]", "[1]")),
    *(f'{{"jsonrpc": "2.0", "id": "1", "result": {value}}}' for value in ("null", "5", '"x"', "[1]")),
    *(
        f'{{"jsonrpc": "2.0", "id": "1", "result": {{"{kind}": {value}}}}}'
        for kind in ("task", "message", "statusUpdate", "artifactUpdate")
        for value in ("true", "5", '"x"', "[1]", '"\\ud800"', '{"id": 5}', '{"role": Infinity}', '{"metadata": 5}')
    ),
    '{"jsonrpc": "2.0", "id": "1", "result": {"message": {"messageId": "m", "parts": [{"data": NaN}]}}}',
]
"""What is no answer, in the form of either version, or of none."""


def agent(version: str, body: str, *, streams: bool) -> Serve:
    """An agent that answers everything with this body."""
    kind, said = ("text/event-stream", f"data: {body}\n\n") if streams else ("application/json", body)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        card = card_of(head, version, streams=streams)
        writer.write(card if head.startswith(b"GET") else answering(said.encode(), kind))
        await writer.drain()
        writer.close()

    return serve


async def something(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("something")


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("version", ["0.3", "1.0"])
async def test_a_client_reads_it_as_something_or_raises_what_its_callers_expect(version: str, streams: bool) -> None:
    for body in UNREADABLE:
        async with listening(agent(version, body, streams=streams)) as url, await A2AClient.connect(url) as client:
            with suppress(RemoteError, AgentUnreachableError):
                [event async for event in client.stream(text="hello")]


async def test_a_card_is_read_as_something_or_is_its_agents_failure() -> None:
    for card in UNREADABLE + [nested(depth) for depth in DEPTHS]:
        async with listening(saying(b"", card=answering(card.encode()))) as url:
            with suppress(RemoteError, AgentUnreachableError):
                await fetch_card(url)


async def test_who_cannot_be_read_fails_alone(redis_url: str, tmp_path: Path) -> None:
    bodies = {"deep": message(nested(500_000)), "nested": message(nested(120)), "wrong": '{"result": {"task": true}}'}
    async with (
        stack(redis_url, tmp_path) as house,
        listening(agent("0.3", bodies["deep"], streams=False)) as deep,
        listening(agent("0.3", bodies["nested"], streams=True)) as within,
        listening(agent("1.0", bodies["wrong"], streams=False)) as wrong,
        listening(saying(b"", card=answering(nested(500_000).encode()))) as card,
        served_agent(something) as honest,
    ):
        row = await house.row({"deep": deep, "nested": within, "wrong": wrong, "card": card, "honest": honest})
    trial = row["detail"]["trials"][0]
    failed = {call["callee"]: call["error"] is not None for call in trial["calls"]}
    assert failed == {"deep": True, "nested": True, "wrong": True, "card": True, "honest": False}
    assert trial["sub_scores"][0]["value"] == 0.2
