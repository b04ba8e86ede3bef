"""Green agents other than Concord's, which answer in the JSON-RPC of A2A 0.3."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from concord.loopback import LOOPBACK, free_ports
from tests.kit.serving import reserved, served

ROW = {"score": 1.5}


class GreenAgent:
    """Answers every message with one ended task, and records the requests."""

    def __init__(self, task: dict[str, Any], *, streaming: bool, progress: tuple[str, ...] = ()) -> None:
        self.requests: list[dict[str, Any]] = []
        [self.port] = free_ports(1)
        self.url = f"http://{LOOPBACK}:{self.port}/"
        self._result = {"kind": "task", "id": "t", "contextId": "c", **task}
        self._streaming = streaming
        self._progress = progress

    @property
    def sent(self) -> dict[str, Any]:
        """The JSON document in the one message received."""
        [request] = self.requests
        [part] = request["params"]["message"]["parts"]
        assert part["kind"] == "text"
        document: dict[str, Any] = json.loads(part["text"])
        return document

    def app(self) -> FastAPI:
        """The card at the root, the endpoint elsewhere: a client has to follow the card's URL."""
        app = FastAPI()
        app.add_api_route("/.well-known/agent-card.json", self._card)
        app.add_api_route("/rpc", self._answer, methods=["POST"])
        return app

    async def _card(self) -> JSONResponse:
        return JSONResponse(
            {
                "protocolVersion": "0.3.0",
                "name": "green",
                "description": "assesses",
                "version": "1",
                "url": f"{self.url}rpc",
                "preferredTransport": "JSONRPC",
                "capabilities": {"streaming": self._streaming},
                "defaultInputModes": ["text"],
                "defaultOutputModes": ["text"],
                "skills": [],
            }
        )

    async def _answer(self, request: Request) -> Response:
        self.requests.append(await request.json())
        if self.requests[-1]["method"] == "message/send":
            return JSONResponse(self._enveloped(self._result))
        lines = [f"data: {json.dumps(self._enveloped(event))}\n\n" for event in self._events()]
        return StreamingResponse(iter(lines), media_type="text/event-stream")

    def _events(self) -> list[dict[str, Any]]:
        about = {"taskId": "t", "contextId": "c"}
        task = {**self._result, "status": {"state": "submitted"}, "artifacts": []}
        working = [
            {"kind": "status-update", **about, "final": False, "status": status("working", text)}
            for text in self._progress
        ]
        found = [
            {"kind": "artifact-update", **about, "artifact": artifact} for artifact in self._result.get("artifacts", [])
        ]
        return [
            task,
            *working,
            *found,
            {"kind": "status-update", **about, "final": True, "status": self._result["status"]},
        ]

    def _enveloped(self, result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.requests[-1]["id"], "result": result}


def status(state: str, text: str) -> dict[str, Any]:
    """A task's status with a message."""
    parts = [{"kind": "text", "text": text}]
    return {"state": state, "message": {"kind": "message", "messageId": "m", "role": "agent", "parts": parts}}


def completed(*parts: dict[str, Any]) -> dict[str, Any]:
    """A completed task, with one artifact of these parts."""
    return {"status": {"state": "completed"}, "artifacts": [{"artifactId": "a", "parts": list(parts)}]}


def data(value: object) -> dict[str, Any]:
    """A data part."""
    return {"kind": "data", "data": value}


def text(value: str) -> dict[str, Any]:
    """A text part."""
    return {"kind": "text", "text": value}


@asynccontextmanager
async def serving(agent: GreenAgent) -> AsyncIterator[GreenAgent]:
    """Serves an agent on the loopback."""
    async with served(agent.app(), reserved(port=agent.port)):
        yield agent
