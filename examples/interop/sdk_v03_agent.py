"""An agent on the A2A SDK 0.3: `sdk_v03_agent.py --host H --port P --card-url URL [--peer URL …] [--chunks]`.

With `--chunks` it streams its answer in appended pieces of an artifact.
"""

import asyncio
import sys
from uuid import uuid4

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Message, Part, Role, TextPart
from a2a.utils import new_agent_text_message

from words import Arguments, answer_of, arguments, pieces_of


class Words(AgentExecutor):
    """Says its word, or asks its peers."""

    def __init__(self, given: Arguments) -> None:
        self._given = given

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        heard = await asyncio.gather(*map(ask, self._given.peers))
        text = answer_of(heard) if heard else self._given.text
        if "--chunks" not in sys.argv:
            await event_queue.enqueue_event(new_agent_text_message(text))
            return
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        await updater.start_work()
        pieces = pieces_of(text)
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            part = Part(root=TextPart(text=piece))
            await updater.add_artifact([part], artifact_id="a", append=number > 0, last_chunk=last)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


async def ask(peer: str) -> str:
    """The answer of a peer."""
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, peer).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
        parts = [Part(root=TextPart(text="What do you know?"))]
        message = Message(role=Role.user, message_id=uuid4().hex, parts=parts)
        return "\n".join([str(event) async for event in client.send_message(message)])


if __name__ == "__main__":
    given = arguments("--chunks")
    card = AgentCard(
        name="words",
        description="Knows a word, or asks its peers for theirs.",
        version="1",
        url=given.card_url,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[AgentSkill(id="words", name="Words", description="Knows a word.", tags=["sample"])],
    )
    handler = DefaultRequestHandler(Words(given), InMemoryTaskStore())
    uvicorn.run(A2AStarletteApplication(card, handler).build(), host=given.host, port=given.port, log_level="warning")
