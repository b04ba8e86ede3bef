"""An agent on the A2A SDK 1.x: `sdk_v1_agent.py --host H --port P --card-url URL [--peer URL …]`."""

import asyncio
from uuid import uuid4

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2 as pb
from starlette.applications import Starlette

from words import KNOWN, Arguments, answer_of, arguments


class Words(AgentExecutor):
    """Says its word, or asks its peers."""

    def __init__(self, given: Arguments) -> None:
        self._peers = given.peers

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        heard = await asyncio.gather(*map(ask, self._peers))
        text = answer_of(heard) if heard else KNOWN
        parts = [pb.Part(text=text)]
        await event_queue.enqueue_event(pb.Message(role=pb.Role.ROLE_AGENT, message_id=uuid4().hex, parts=parts))

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
    interfaces = [
        pb.AgentInterface(url=given.card_url, protocol_binding="JSONRPC", protocol_version=version)
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
    rpc = create_jsonrpc_routes(request_handler=handler, rpc_url="/", enable_v0_3_compat=True)
    return Starlette(routes=[*create_agent_card_routes(card), *rpc])


if __name__ == "__main__":
    given = arguments()
    uvicorn.run(served(given), host=given.host, port=given.port, log_level="warning")
