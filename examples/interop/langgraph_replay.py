"""A replay of the answers of langgraph-api 0.16: `langgraph_replay.py --host H --port P --card-url URL`.

It has a card of A2A 1.0, and streams events in the form of 0.3 with the states of 1.0: the first wrapped in `task`, the
others not wrapped. Servers on OpenAI's streams end theirs with `[DONE]`.
"""

import json
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from words import Arguments, arguments, pieces_of


def events(text: str) -> Iterator[dict[str, Any]]:
    """The events of an answer."""
    place = {"taskId": "t", "contextId": "c"}
    yield {"task": {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}
    for piece in pieces_of(text):
        said = {"kind": "message", "role": "agent", "messageId": piece, "parts": [{"kind": "text", "text": piece}]}
        working = {"state": "TASK_STATE_WORKING", "message": said}
        yield {**place, "kind": "status-update", "status": working, "final": False}
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
    yield {**place, "kind": "artifact-update", "artifact": artifact}
    yield {**place, "kind": "status-update", "status": {"state": "TASK_STATE_COMPLETED"}, "final": True}


def served(given: Arguments) -> Starlette:
    """The server."""
    address = {"url": given.card_url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    shown = {
        "name": "words",
        "url": given.card_url,
        "supportedInterfaces": [address],
        "capabilities": {"streaming": True},
    }

    async def card(_: Request) -> JSONResponse:
        return JSONResponse(shown)

    async def answer(request: Request) -> StreamingResponse:
        asked = (await request.json())["id"]
        lines = [json.dumps({"jsonrpc": "2.0", "id": asked, "result": event}) for event in events(given.text)]
        return StreamingResponse((f"data: {line}\n\n" for line in [*lines, "[DONE]"]), media_type="text/event-stream")

    return Starlette(
        routes=[Route("/.well-known/agent-card.json", card), Route("/", answer, methods=["POST"])],
    )


if __name__ == "__main__":
    given = arguments()
    uvicorn.run(served(given), host=given.host, port=given.port, log_level="warning")
