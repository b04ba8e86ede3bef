"""A pydantic-ai agent behind fasta2a: `fasta2a_agent.py --host H --port P --card-url URL`. It has no peers."""

import uvicorn
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from words import arguments

if __name__ == "__main__":
    given = arguments()

    async def says(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """The answer of the scripted model."""
        return ModelResponse(parts=[TextPart(given.text)])

    agent = Agent(FunctionModel(says), name="words")
    try:
        from fasta2a.pydantic_ai import agent_to_a2a
    except ModuleNotFoundError:  # before version 2
        app = agent.to_a2a(url=given.card_url)
    else:
        app = agent_to_a2a(agent, url=given.card_url)
    uvicorn.run(app, host=given.host, port=given.port, log_level="warning")
