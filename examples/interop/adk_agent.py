"""A Google ADK agent with a scripted model: `adk_agent.py --host H --port P --card-url URL [--peer URL …]`.

`to_a2a` serves it. With peers, it asks each of them through a `RemoteA2aAgent`, at the address in its configuration.
"""

from collections.abc import AsyncGenerator

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools.agent_tool import AgentTool
from google.genai.types import Content, Part

from words import Arguments, answer_of, arguments


class Scripted(BaseLlm):
    """Calls every tool once, and then reports their answers."""

    tools: list[str]
    text: str

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or ()]
        heard = [str(part.function_response.response) for part in parts if part.function_response]
        if len(heard) < len(self.tools):
            ask = [Part.from_function_call(name=name, args={"request": "What do you know?"}) for name in self.tools]
            yield LlmResponse(content=Content(role="model", parts=ask))
        else:
            yield LlmResponse(
                content=Content(role="model", parts=[Part(text=answer_of(heard) if heard else self.text)])
            )


def agent(given: Arguments) -> LlmAgent:
    """The agent, with its peers as tools."""
    peers = [
        RemoteA2aAgent(name=f"peer_{number}", agent_card=f"{peer.rstrip('/')}/.well-known/agent-card.json")
        for number, peer in enumerate(given.peers)
    ]
    return LlmAgent(
        name="adk_agent",
        description="Knows a word, or asks its peers for theirs.",
        model=Scripted(model="scripted", tools=[peer.name for peer in peers], text=given.text),
        tools=[AgentTool(peer) for peer in peers],
    )


if __name__ == "__main__":
    given = arguments()
    app = to_a2a(agent(given), host=given.host, port=given.port)
    uvicorn.run(app, host=given.host, port=given.port, log_level="warning")
