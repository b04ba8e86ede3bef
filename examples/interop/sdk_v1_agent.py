"""An agent on the A2A SDK 1.x: `sdk_v1_agent.py --host H --port P --card-url URL [--peer URL …] [SWITCHES]`.

With `--chunks` it streams its answer in appended pieces of an artifact, with `--rest` it is served over HTTP+JSON
alone, and with `--key` it wants the API key in its environment's `WORDS_KEY`, in the header `X-API-Key`.
"""

import asyncio
import os
import sys
from uuid import uuid4

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response

from words import Arguments, answer_of, arguments, pieces_of


class Words(AgentExecutor):
    """Says its word, or asks its peers."""

    def __init__(self, given: Arguments) -> None:
        self._given = given

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        heard = await asyncio.gather(*map(ask, self._given.peers))
        text = answer_of(heard) if heard else self._given.text
        if "--chunks" not in sys.argv:
            parts = [pb.Part(text=text)]
            await event_queue.enqueue_event(pb.Message(role=pb.Role.ROLE_AGENT, message_id=uuid4().hex, parts=parts))
            return
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        pieces = pieces_of(text)
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            part = pb.Part(text=piece)
            await updater.add_artifact([part], artifact_id="a", append=number > 0, last_chunk=last)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


async def ask(peer: str) -> str:
    """The answer of a peer."""
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, peer).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
        message = pb.Message(role=pb.Role.ROLE_USER, message_id=uuid4().hex, parts=[pb.Part(text="What do you know?")])
        events = client.send_message(pb.SendMessageRequest(message=message))
        return "\n".join([str(event) async for event in events])


def served(given: Arguments) -> Starlette:
    """The agent's app, for clients of both versions of A2A."""
    rest = "--rest" in sys.argv
    interfaces = [
        pb.AgentInterface(
            url=given.card_url, protocol_binding="HTTP+JSON" if rest else "JSONRPC", protocol_version=version
        )
        for version in ("1.0", "0.3")
    ]
    card = pb.AgentCard(
        name="words",
        description="Knows a word, or asks its peers for theirs.",
        version="1",
        supported_interfaces=interfaces,
        capabilities=pb.AgentCapabilities(streaming=True),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[pb.AgentSkill(id="words", name="Words", description="Knows a word.", tags=["sample"])],
    )
    handler = DefaultRequestHandler(agent_executor=Words(given), task_store=InMemoryTaskStore(), agent_card=card)
    if rest:
        routes = create_rest_routes(request_handler=handler)
    else:
        routes = create_jsonrpc_routes(request_handler=handler, rpc_url="/", enable_v0_3_compat=True)
    app = Starlette(routes=[*create_agent_card_routes(card), *routes])
    if "--key" in sys.argv:
        app.add_middleware(BaseHTTPMiddleware, dispatch=with_key)
    return app


async def with_key(request: Request, go_on: RequestResponseEndpoint) -> Response:
    """Refuses requests without the key. The card needs none."""
    if request.method == "POST" and request.headers.get("x-api-key") != os.environ["WORDS_KEY"]:
        return Response("an API key is missing", 401)
    return await go_on(request)


if __name__ == "__main__":
    given = arguments("--chunks", "--rest", "--key")
    uvicorn.run(served(given), host=given.host, port=given.port, log_level="warning")
