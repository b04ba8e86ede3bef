"""Google ADK teams with scripted models and ADK's own spans: `google_adk_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, SequentialAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai.types import Content, Part

from recording import arguments, recorded


class Scripted(BaseLlm):
    """Says the lines of its script in order: a text, or the name and the arguments of a tool."""

    script: list[Any]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        line = self.script.pop(0)
        part = Part(text=line) if isinstance(line, str) else Part.from_function_call(name=line[0], args=line[1])
        yield LlmResponse(content=Content(role="model", parts=[part]))


def says(*script: str | tuple[str, dict[str, Any]]) -> Scripted:
    """A model with this script."""
    return Scripted(model="scripted", script=list(script))


def transfer() -> BaseAgent:
    """A coordinator transfers the user to a sub-agent, which transfers to its sibling."""
    tide = LlmAgent(name="tide_expert", description="Knows tides.", model=says("Low tide is at noon."))
    harbour = LlmAgent(
        name="harbour_expert",
        description="Knows harbours.",
        model=says(("transfer_to_agent", {"agent_name": "tide_expert"})),
    )
    return LlmAgent(
        name="coordinator",
        model=says(("transfer_to_agent", {"agent_name": "harbour_expert"})),
        sub_agents=[harbour, tide],
    )


def sequential() -> BaseAgent:
    """A sequence of a planner and a loop of a writer and a critic, who work twice."""
    review = LoopAgent(
        name="review",
        sub_agents=[
            LlmAgent(name="writer", model=says("A draft.", "A better draft.")),
            LlmAgent(name="critic", model=says("Too long.", "Good.")),
        ],
        max_iterations=2,
    )
    return SequentialAgent(name="pipeline", sub_agents=[LlmAgent(name="planner", model=says("A plan.")), review])


def tools() -> BaseAgent:
    """An agent has another agent as a tool."""
    expert = LlmAgent(name="expert", description="Knows tides.", model=says("At noon."))
    return LlmAgent(
        name="lead", model=says(("expert", {"request": "When is low tide?"}), "At noon."), tools=[AgentTool(expert)]
    )


async def run(agent: BaseAgent) -> None:
    """Runs the team on one message."""
    runner = InMemoryRunner(agent=agent, app_name="demo")
    session = await runner.session_service.create_session(app_name="demo", user_id="user")
    message = Content(role="user", parts=[Part(text="When is low tide?")])
    async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=message):
        pass


TEAMS = {team.__name__: team for team in (transfer, sequential, tools)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path):
        asyncio.run(run(TEAMS[team]()))
