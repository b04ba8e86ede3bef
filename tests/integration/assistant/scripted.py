"""A scripted assistant of plain a2a-sdk and httpx, which knows nothing of Concord's library.

`python scripted.py --host HOST --port PORT --card-url URL` serves one that does the scenario first_day right.
"""

import argparse
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import add_a2a_routes_to_fastapi, create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2 as pb
from fastapi import FastAPI
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value

Turn = Callable[[httpx.AsyncClient, int], Awaitable[dict[str, Any]]]
"""Acts in a turn, with a client of the environment and the turn's number, and returns the reply."""


class Scripted(AgentExecutor):
    """Answers each message of the protocol with a message. `received` has all messages."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.received: list[dict[str, Any]] = []

    @property
    def start(self) -> dict[str, Any]:
        """The latest `assessment_start`."""
        return next(each for each in reversed(self.received) if each["message_type"] == "assessment_start")

    def environment(self) -> httpx.AsyncClient:
        """A client of the environment with the assistant's key."""
        url, key = self.start["ues_url"], self.start["api_key"]
        return httpx.AsyncClient(base_url=url, headers={"x-api-key": key}, timeout=60, trust_env=False)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        [message] = [MessageToDict(part.data) for part in context.message.parts]
        self.received.append(message)
        reply: dict[str, Any] = {"message_type": "ready"}
        if message["message_type"] == "turn_start":
            async with self.environment() as environment:
                reply = await self._turn(environment, round(message["turn_number"]))
        part = pb.Part(data=ParseDict(reply, Value()), media_type="application/json")
        await event_queue.enqueue_event(
            pb.Message(
                message_id=uuid4().hex,
                role=pb.Role.ROLE_AGENT,
                parts=[part],
                context_id=context.context_id or "",
            )
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


SELLER = "veno.hynmere@dunefield.example"
FORM = "Quote: PB-46941\nArticle: YS-39633\nQuantity: 50\nDelivery day: 2031-09-17"


async def first_day(environment: httpx.AsyncClient, number: int) -> dict[str, Any]:
    """Does the scenario first_day: orders by the form, waits for the confirmation, and answers."""
    if number == 1:
        chat = (await environment.get("chat/state")).raise_for_status().json()
        assert "Order 50 filing cabinets" in chat["messages"][-1]["content"]
        email = {"to_addresses": [SELLER], "subject": "Order", "body_text": FORM}
        (await environment.post("email/send", json=email)).raise_for_status()
        return {"message_type": "turn_complete", "notes": "I ordered.", "time_step": "PT2H"}
    answers = (await environment.post("email/query", json={"from_address": SELLER, "subject_contains": "Re:"})).json()
    assert "booked" in answers["emails"][0]["body_text"], answers
    (await environment.post("chat/send", json={"content": '{"order_total": 21000}'})).raise_for_status()
    return {"message_type": "early_completion", "reason": "The order is booked."}


def app_of(assistant: Scripted, url: str) -> FastAPI:
    """An app that serves an assistant over A2A 1.0 and 0.3."""
    card = pb.AgentCard(
        name="assistant",
        description="A scripted assistant.",
        version="1",
        supported_interfaces=[pb.AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=pb.AgentCapabilities(streaming=False),
        default_input_modes=["application/json"],
        default_output_modes=["application/json"],
        skills=[pb.AgentSkill(id="assist", name="Assist", description="Assists.", tags=["assistant"])],
    )
    handler = DefaultRequestHandler(agent_executor=assistant, task_store=InMemoryTaskStore(), agent_card=card)
    app = FastAPI()
    add_a2a_routes_to_fastapi(
        app,
        agent_card_routes=create_agent_card_routes(card),
        jsonrpc_routes=create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
    )
    return app


def main() -> None:
    """Serves until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--card-url", default="")
    arguments = parser.parse_args()
    url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    uvicorn.run(app_of(Scripted(first_day), url), host=arguments.host, port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
