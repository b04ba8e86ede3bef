"""A strands agent with a scripted model: `strands_agent.py --host H --port P --card-url URL [--compliant]`.

Its own A2A server streams the model's pieces: in status messages by default, in appended artifacts with `--compliant`.
"""

import sys
from collections.abc import AsyncGenerator
from typing import Any

import uvicorn
from strands import Agent
from strands.models import Model
from strands.multiagent.a2a import A2AServer

from words import arguments, pieces_of


class Scripted(Model):
    """Says the word, in pieces."""

    def __init__(self, text: str) -> None:
        self._text = text

    def update_config(self, **model_config: Any) -> None:
        """There is nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        return {}

    async def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError
        yield {}

    async def stream(self, *args: Any, **kwargs: Any) -> AsyncGenerator[dict[str, Any], None]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        for piece in pieces_of(self._text):
            yield {"contentBlockDelta": {"delta": {"text": piece}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


if __name__ == "__main__":
    compliant = "--compliant" in sys.argv
    given = arguments("--compliant")

    def agent(_context: str) -> Agent:
        """An agent of one conversation."""
        return Agent(name="words", description="Knows a word.", model=Scripted(given.text), callback_handler=None)

    server = A2AServer(
        agent_factory=agent,
        host=given.host,
        port=given.port,
        http_url=given.card_url,
        enable_a2a_compliant_streaming=compliant,
    )
    uvicorn.run(server.to_starlette_app(), host=given.host, port=given.port, log_level="warning")
