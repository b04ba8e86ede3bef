"""Semantic Kernel's orchestrations with scripted models: `semantic_kernel_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI
from semantic_kernel.agents import (
    ChatCompletionAgent,
    ConcurrentOrchestration,
    GroupChatOrchestration,
    HandoffOrchestration,
    OrchestrationHandoffs,
    RoundRobinGroupChatManager,
    SequentialOrchestration,
)
from semantic_kernel.agents.runtime import InProcessRuntime
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion

from recording import arguments, recorded
from scripted_endpoint import Line, Scripts, scripted_endpoint

Agents = Callable[..., list[ChatCompletionAgent]]


def transfers(agent: str) -> Line:
    """The tool call by which an agent hands over."""
    return f"Handoff-transfer_to_{agent}", {}


def sequential(agents: Agents) -> Any:
    """Three agents, one after the other."""
    return SequentialOrchestration(members=agents("searcher", "writer", "editor"))


def concurrent(agents: Agents) -> Any:
    """Two agents at once."""
    return ConcurrentOrchestration(members=agents("north", "south"))


def groupchat(agents: Agents) -> Any:
    """Three agents speak in turn, four messages."""
    return GroupChatOrchestration(
        members=agents("planner", "critic", "writer"), manager=RoundRobinGroupChatManager(max_rounds=4)
    )


def handoff(agents: Agents) -> Any:
    """Triage hands over to an expert, who hands over to a second one."""
    triage, harbour, tide = agents("triage", "harbour", "tide")
    handoffs = OrchestrationHandoffs().add(triage, harbour, "Harbours.").add(harbour, tide, "Tides.")
    return HandoffOrchestration(members=[triage, harbour, tide], handoffs=handoffs)


SCRIPTS: dict[str, Scripts] = {
    "sequential": {f"Seat of the {name}": [f"Work of {name}."] for name in ("searcher", "writer", "editor")},
    "concurrent": {f"Seat of the {name}": [f"Work of {name}."] for name in ("north", "south")},
    "groupchat": {f"Seat of the {name}": [f"Work of {name}."] * 2 for name in ("planner", "critic", "writer")},
    "handoff": {
        "Seat of the triage": [transfers("harbour")],
        "Seat of the harbour": [transfers("tide")],
        "Seat of the tide": ["Low tide is at noon.", ("Handoff-complete_task", {"task_summary": "Told the tide."})],
    },
}
TEAMS = {team.__name__: team for team in (sequential, concurrent, groupchat, handoff)}


async def run(team: str, url: str) -> None:
    """Runs a team on one task."""
    service = OpenAIChatCompletion("scripted", async_client=AsyncOpenAI(api_key="none", base_url=url))

    def agents(*names: str) -> list[ChatCompletionAgent]:
        return [
            ChatCompletionAgent(service=service, name=name, instructions=f"Seat of the {name}.", description=name)
            for name in names
        ]

    runtime = InProcessRuntime()
    runtime.start()
    result = await TEAMS[team](agents).invoke("Write about the harbour of Bergen.", runtime)
    await result.get(timeout=60)
    await runtime.stop_when_idle()


if __name__ == "__main__":
    os.environ["SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE"] = "true"
    team, _, path = arguments()
    with recorded(path), scripted_endpoint(SCRIPTS[team]) as url:
        asyncio.run(run(team, url))
