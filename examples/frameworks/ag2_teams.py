"""AG2 teams with scripted models and AG2's own spans: `ag2_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
from typing import Any

from ag2 import Agent
from ag2.events import ToolCallEvent
from ag2.middleware.builtin.telemetry import TelemetryMiddleware
from ag2.testing import TestConfig
from opentelemetry.sdk.trace import TracerProvider

from recording import arguments, recorded


async def tools(provider: TracerProvider) -> None:
    """An agent has two others as tools."""

    def agent(name: str, *script: Any, tools: Any = ()) -> Agent:
        middleware = [TelemetryMiddleware(agent_name=name, tracer_provider=provider)]
        return Agent(name, config=TestConfig(*script), tools=tools, middleware=middleware)

    searcher = agent("searcher", "Bergen.")
    writer = agent("writer", "A text.")
    lead = agent(
        "lead",
        ToolCallEvent(name="task_searcher", arguments='{"objective": "Find a harbour."}'),
        ToolCallEvent(name="task_writer", arguments='{"objective": "Write about it."}'),
        "Done.",
        tools=[searcher.as_tool(description="Searches."), writer.as_tool(description="Writes.")],
    )
    await lead.ask("Write about a harbour.")


TEAMS = {team.__name__: team for team in (tools,)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path) as provider:
        asyncio.run(TEAMS[team](provider))
