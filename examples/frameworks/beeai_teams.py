"""BeeAI teams with scripted models: `beeai_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
import os

from openinference.instrumentation.beeai import BeeAIInstrumentor

from recording import arguments, recorded
from scripted_endpoint import Line, Scripts, scripted_endpoint


def calls(tool: str, task: str) -> Line:
    """The call of an agent as a tool."""
    return tool, {"task": task}


def answers(text: str) -> Line:
    """The call by which an agent gives its final answer."""
    return "final_answer", {"response": text}


SCRIPTS: Scripts = {
    "Seat of the lead": [
        calls("ask_searcher", "How deep is it?"),
        calls("ask_writer", "Write it."),
        answers("It is 9 m deep."),
    ],
    "Seat of the searcher": [answers("9 m.")],
    "Seat of the writer": [answers("The harbour is 9 m deep.")],
}


async def run(url: str) -> None:
    """A lead asks two agents by handoff tools, which return."""
    os.environ["OPENAI_API_BASE"] = url
    from beeai_framework.agents.requirement import RequirementAgent
    from beeai_framework.backend import ChatModel
    from beeai_framework.tools.handoff import HandoffTool

    def agent(name: str, *tools: HandoffTool) -> RequirementAgent:
        return RequirementAgent(
            llm=ChatModel.from_name("openai:gpt-4o-mini", stream=False),
            tools=list(tools),
            name=name,
            description=name,
            role=f"Seat of the {name}",
        )

    asked = [HandoffTool(agent(name), name=f"ask_{name}", description=name) for name in ("searcher", "writer")]
    await agent("lead", *asked).run("Write about the harbour of Bergen.")


if __name__ == "__main__":
    _, _, path = arguments()
    with recorded(path) as provider, scripted_endpoint(SCRIPTS) as url:
        BeeAIInstrumentor().instrument(tracer_provider=provider)
        asyncio.run(run(url))
