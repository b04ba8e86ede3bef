"""Unreadable answers: they are failures of the agent that sent them, and no other participant or assessment is
affected."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from concord.a2a import A2AClient, AgentUnreachableError, IncomingMessage, RemoteError, TaskHandle, fetch_card
from tests.kit.hostile import answering, card_of, fixed_answer
from tests.kit.serving import Serve, listening, served_agent
from tests.kit.stack import stack

DEPTHS = (120, 900, 500_000)
"""More levels than Protobuf reads, than anybody should write, and than Python's JSON parser reads."""


def nested(depth: int) -> str:
    return "[" * depth + "1" + "]" * depth


def message(data: str) -> str:
    """An answer of A2A 0.3 with this JSON as a data part."""
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
"""Bodies that are not an answer in either version of A2A."""


def agent(version: str, body: str, *, streams: bool) -> Serve:
    """An agent that answers every call with this body."""
    kind, content = ("text/event-stream", f"data: {body}\n\n") if streams else ("application/json", body)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        card = card_of(head, version, streams=streams)
        writer.write(card if head.startswith(b"GET") else answering(content.encode(), kind))
        await writer.drain()
        writer.close()

    return serve


async def something(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("something")


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("version", ["0.3", "1.0"])
async def test_a_client_raises_no_other_errors_for_an_unreadable_answer_than_documented(
    version: str, streams: bool
) -> None:
    for body in UNREADABLE:
        async with listening(agent(version, body, streams=streams)) as url, await A2AClient.connect(url) as client:
            with suppress(RemoteError, AgentUnreachableError):
                [event async for event in client.stream(text="hello")]


async def test_fetching_an_unreadable_card_raises_no_other_errors_than_documented() -> None:
    for card in UNREADABLE + [nested(depth) for depth in DEPTHS]:
        async with listening(fixed_answer(b"", card=answering(card.encode()))) as url:
            with suppress(RemoteError, AgentUnreachableError):
                await fetch_card(url)


async def test_only_the_participants_with_unreadable_answers_fail(redis_url: str, tmp_path: Path) -> None:
    bodies = {"deep": message(nested(500_000)), "nested": message(nested(120)), "wrong": '{"result": {"task": true}}'}
    async with (
        stack(redis_url, tmp_path) as services,
        listening(agent("0.3", bodies["deep"], streams=False)) as deep,
        listening(agent("0.3", bodies["nested"], streams=True)) as nested_url,
        listening(agent("1.0", bodies["wrong"], streams=False)) as wrong,
        listening(fixed_answer(b"", card=answering(nested(500_000).encode()))) as card,
        served_agent(something) as honest,
    ):
        row = await services.row({"deep": deep, "nested": nested_url, "wrong": wrong, "card": card, "honest": honest})
    trial = row["detail"]["trials"][0]
    failed = {call["callee"]: call["error"] is not None for call in trial["calls"]}
    assert failed == {"deep": True, "nested": True, "wrong": True, "card": True, "honest": False}
    assert trial["sub_scores"][0]["value"] == 0.2
