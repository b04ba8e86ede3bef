"""A team on the A2A SDK, each agent in its process with the SDK's own spans: `a2a_teams.py TEAM INSTRUMENTATION FILE`.

No span names an agent: the name is the `service.name` of its process.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2 as pb
from opentelemetry import trace
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from starlette.applications import Starlette

from processes import free_port, serve, served
from recording import arguments, recorded


class Asking(AgentExecutor):
    """Asks its peers one after the other, and answers."""

    def __init__(self, peers: Sequence[str]) -> None:
        self._peers = peers

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        for peer in self._peers:
            await ask(peer)
        parts = [pb.Part(text="At noon.")]
        await event_queue.enqueue_event(pb.Message(role=pb.Role.ROLE_AGENT, message_id=uuid4().hex, parts=parts))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


async def ask(peer: str) -> None:
    """Sends the agent at a URL a message, and waits for the answer."""
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, peer).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
        message = pb.Message(role=pb.Role.ROLE_USER, message_id=uuid4().hex, parts=[pb.Part(text="When is low tide?")])
        async for _ in client.send_message(pb.SendMessageRequest(message=message)):
            pass


def app(name: str, url: str, peers: Sequence[str]) -> Starlette:
    """The agent's app."""
    card = pb.AgentCard(
        name=name,
        description=f"The {name}.",
        version="1",
        supported_interfaces=[pb.AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=pb.AgentCapabilities(),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[pb.AgentSkill(id=name, name=name, description=f"The {name}.", tags=["sample"])],
    )
    handler = DefaultRequestHandler(agent_executor=Asking(peers), task_store=InMemoryTaskStore(), agent_card=card)
    rpc = create_jsonrpc_routes(request_handler=handler, rpc_url="/")
    return Starlette(routes=[*create_agent_card_routes(card), *rpc])


def agent(name: str, ports: Sequence[int], path: Path) -> None:
    """Serves an agent at the first port. Its peers are at the others."""
    own, *peers = (f"http://127.0.0.1:{port}" for port in ports)
    with recorded(path, service=name, processor=BatchSpanProcessor):
        HTTPXClientInstrumentor().instrument()
        serve(app(name, own, peers), ports[0])


async def ask_all(peers: Sequence[str]) -> None:
    """Asks the agents at these URLs one after the other, as one piece of work."""
    with trace.get_tracer("coordinator").start_as_current_span("plan"):
        for peer in peers:
            await ask(peer)


def delegation(path: Path) -> None:
    """A coordinator asks a harbour, which asks a tide, and then asks the tide itself."""
    harbour_port, tide_port = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        harbour_path, tide_path = Path(folder, "harbour"), Path(folder, "tide")
        with (
            recorded(path, service="coordinator", processor=BatchSpanProcessor),
            served("tide", (tide_port,), tide_path) as tide,
            served("harbour", (harbour_port, tide_port), harbour_path) as harbour,
        ):
            HTTPXClientInstrumentor().instrument()
            asyncio.run(ask_all([harbour, tide]))
        with path.open("a") as file:
            file.write(harbour_path.read_text() + tide_path.read_text())


if __name__ == "__main__":
    role, given, path = arguments()
    if role == "delegation":
        delegation(path)
    else:
        agent(role, [int(port) for port in given.split(",")], path)
