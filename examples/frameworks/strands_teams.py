"""Strands teams with scripted models and Strands' own spans: `strands_teams.py TEAM INSTRUMENTATION FILE`."""

import functools
from collections.abc import Callable
from typing import Any

from strands import Agent
from strands.models.openai import OpenAIModel
from strands.multiagent import GraphBuilder, Swarm

from recording import arguments, recorded
from scripted_endpoint import Line, Scripts, scripted_endpoint


def passes(agent: str) -> Line:
    """The tool call by which a member of a swarm hands over."""
    return "handoff_to_agent", {"agent_name": agent, "message": "Go on."}


def swarm(model: Callable[[], Any]) -> None:
    """Three agents hand over, and the third one hands back."""
    members = [
        Agent(name=name, model=model(), system_prompt=f"Seat of the {name}.", callback_handler=None)
        for name in ("planner", "searcher", "writer")
    ]
    Swarm(members)("Write about the harbour of Bergen.")


def graph(model: Callable[[], Any]) -> None:
    """A planner, then two searchers at once, then a writer."""
    agents = {
        name: Agent(name=name, model=model(), system_prompt=f"Seat of the {name}.", callback_handler=None)
        for name in ("planner", "north", "south", "writer")
    }
    builder = GraphBuilder()
    for name, agent in agents.items():
        builder.add_node(agent, name)
    for before, after in (("planner", "north"), ("planner", "south"), ("north", "writer"), ("south", "writer")):
        builder.add_edge(before, after)
    builder.set_entry_point("planner")
    builder.build()("Write about the harbours of Norway.")


def tools(model: Callable[[], Any]) -> None:
    """A lead has two agents as tools."""
    experts = [
        Agent(name=name, model=model(), system_prompt=f"Seat of the {name}.", description=name, callback_handler=None)
        for name in ("tide_expert", "harbour_expert")
    ]
    lead = Agent(name="lead", model=model(), system_prompt="Seat of the lead.", tools=experts, callback_handler=None)
    lead("When can a ship enter Bergen?")


SCRIPTS: dict[str, Scripts] = {
    "swarm": {
        "Seat of the planner": [passes("searcher"), "Waits.", "It is 9 m deep."],
        "Seat of the searcher": [passes("writer"), "Waits."],
        "Seat of the writer": [passes("planner"), "Waits."],
    },
    "graph": {f"Seat of the {name}": [f"Work of {name}."] for name in ("planner", "north", "south", "writer")},
    "tools": {
        "Seat of the lead": [
            ("tide_expert", {"input": "When is high tide?"}),
            ("harbour_expert", {"input": "How deep?"}),
            "At noon.",
        ],
        "Seat of the tide_expert": ["At noon."],
        "Seat of the harbour_expert": ["9 m."],
    },
}
TEAMS = {team.__name__: team for team in (swarm, graph, tools)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path), scripted_endpoint(SCRIPTS[team]) as url:
        client = {"api_key": "none", "base_url": url}
        TEAMS[team](functools.partial(OpenAIModel, client_args=client, model_id="scripted"))
