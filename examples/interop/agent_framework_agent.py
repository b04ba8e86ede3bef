"""An agent of Microsoft's Agent Framework with a scripted model: `agent_framework_agent.py --host H … [--stream]`.

Its `A2AExecutor` answers as it does by default: in a status message of a task that works, or in appended artifacts.
"""

import sys
from collections.abc import AsyncIterable

import uvicorn
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework import AgentResponse, AgentResponseUpdate, BaseAgent, Content, Message, ResponseStream
from agent_framework.a2a import A2AExecutor
from starlette.applications import Starlette

from words import Arguments, arguments, pieces_of


class Scripted(BaseAgent):
    """Says the word, in pieces if it streams."""

    def __init__(self, text: str) -> None:
        super().__init__(name="words", description="Knows a word.")
        self._text = text

    def run(self, messages=None, *, stream=False, **kwargs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ANN003
        if stream:
            return ResponseStream(self._pieces(), finalizer=AgentResponse.from_updates)
        return self._whole()

    async def _whole(self) -> AgentResponse:
        return AgentResponse(messages=[Message("assistant", [Content.from_text(self._text)])])

    async def _pieces(self) -> AsyncIterable[AgentResponseUpdate]:
        for piece in pieces_of(self._text):
            yield AgentResponseUpdate(contents=[Content.from_text(piece)], role="assistant", message_id="m")


def served(given: Arguments, *, stream: bool) -> Starlette:
    """The agent's app."""
    card = AgentCard(
        name="words",
        description="Knows a word.",
        version="1",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=stream),
        supported_interfaces=[AgentInterface(url=given.card_url, protocol_binding="JSONRPC", protocol_version="1.0")],
        skills=[],
    )
    executor = A2AExecutor(Scripted(given.text), stream=stream)
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])


if __name__ == "__main__":
    stream = "--stream" in sys.argv
    given = arguments("--stream")
    uvicorn.run(served(given, stream=stream), host=given.host, port=given.port, log_level="warning")
