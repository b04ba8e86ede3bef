"""An agent on A2A 0.3 that knows nothing of Concord: plain SDK 0.3.26, in an environment of its own.

`a2a_v03_agent.py PORT …` serves an agent at each port, which follows the instructions in each message: it tells
everybody the numbers in its brief, and answers with the highest number that it has read. It answers with a message, as
the SDK's samples do.
"""

import asyncio
import json
import re
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentSkill
from a2a.utils import new_agent_text_message


class HighestNumber(AgentExecutor):
    """Tells the numbers that it knows in the first round, and answers with the highest from the second on."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        brief = text.partition("What only you know:\n")[2].partition("\n\n")[0]
        earlier = text.partition("You may write to:")[2].partition("Reply with one JSON object")[0]
        reply: dict[str, object]
        if "This is round 1 " in text:
            reply = {"messages": [{"to": "all", "text": f"I know {brief}"}], "answer": None}
        else:
            reply = {"messages": [], "answer": max(numbers(brief + earlier))}
        await event_queue.enqueue_event(new_agent_text_message(f"Here you are:\n```json\n{json.dumps(reply)}\n```"))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


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
