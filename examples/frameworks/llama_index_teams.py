"""LlamaIndex agent workflows with scripted models: `llama_index_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.llms.openai import OpenAI
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

import recording
from recording import arguments, recorded
from scripted_endpoint import Line, Scripts, scripted_endpoint


def passes(agent: str) -> Line:
    """The tool call by which an agent hands over."""
    return "handoff", {"to_agent": agent, "reason": "It knows more."}


SCRIPTS: Scripts = {
    "Seat of the triage": [passes("harbour")],
    "Seat of the harbour": [passes("tide")],
    "Seat of the tide": ["Low tide is at noon."],
}


async def run(url: str) -> None:
    """Triage hands over to an expert, who hands over to a second one."""
    names = ("triage", "harbour", "tide")
    agents = [
        FunctionAgent(
            name=name,
            description=name,
            system_prompt=f"Seat of the {name}.",
            llm=OpenAI(model="gpt-4o-mini", api_base=url, api_key="none"),
            can_handoff_to=list(names[index + 1 : index + 2]),
        )
        for index, name in enumerate(names)
    ]
    await AgentWorkflow(agents=agents, root_agent="triage").run(user_msg="Which harbours are open?")


if __name__ == "__main__":
    recording.MAX_TEXT = 4000  # The event of a step names its agent at the end.
    _, _, path = arguments()
    with recorded(path) as provider, scripted_endpoint(SCRIPTS) as url:
        LlamaIndexInstrumentor().instrument(tracer_provider=provider)
        asyncio.run(run(url))
