"""An agent on A2A 0.3 that knows nothing of Concord and calls others: plain SDK 0.3.26, in an environment of its own.

`a2a_v03_caller.py PORT …` serves an agent at each port, which remembers the first message of each context, as a
conversation. When it is asked a question, it asks every address in the first message for its numbers, and answers with
the highest number. Any other message gets the first one as its answer. It answers with messages, as the SDK's samples
do.
"""

import asyncio
import json
import re
import sys

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory, create_text_message_object
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Message, Role, TextPart
from a2a.utils import new_agent_text_message


class HighestNumber(AgentExecutor):
    """Asks all addresses that it was told of, and answers with the highest number."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        first = self._first.get(context.context_id or "")
        if first is None:
            self._first[context.context_id or ""] = text
            reply = "Understood."
        elif "The question to the team:" in text:
            heard = [await asked(url) for url in re.findall(r"http://\S+", first)]
            reply = json.dumps({"answer": max(numbers(" ".join([brief_in(first), *heard])))})
        else:
            reply = brief_in(first)
        await event_queue.enqueue_event(new_agent_text_message(reply))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


async def asked(url: str) -> str:
    """What another agent says when asked for its numbers."""
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        said = ""
        async for event in client.send_message(create_text_message_object(Role.user, "Which numbers do you know?")):
            if isinstance(event, Message):
                said += " ".join(part.root.text for part in event.parts if isinstance(part.root, TextPart))
        return said


def brief_in(text: str) -> str:
    """The paragraph with what only this agent knows."""
    return text.partition("What only you know:\n")[2].partition("\n\n")[0]


def numbers(text: str) -> list[int]:
    """The numbers of five digits in a text."""
    return [int(found.replace(",", "")) for found in re.findall(r"\d\d,?\d{3}(?!\d)", text)]


async def serve(port: int) -> None:
    """Serves until stopped."""
    card = AgentCard(
        name="highest",
        description="Finds the highest number.",
        version="1",
        url=f"http://127.0.0.1:{port}/",
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[AgentSkill(id="highest", name="Highest", description="Finds the highest number.", tags=["sample"])],
    )
    handler = DefaultRequestHandler(HighestNumber(), InMemoryTaskStore())
    app = A2AStarletteApplication(card, handler).build()
    await uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")).serve()


async def main() -> None:
    """Serves an agent at each port."""
    await asyncio.gather(*(serve(int(port)) for port in sys.argv[1:]))


asyncio.run(main())
