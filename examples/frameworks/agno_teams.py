"""Agno teams with scripted models: `agno_teams.py TEAM INSTRUMENTATION FILE`."""

import functools
from collections.abc import Callable
from typing import Any

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.team import Team
from agno.workflow import Step, Workflow
from openinference.instrumentation.agno import AgnoInstrumentor

from recording import arguments, recorded
from scripted_endpoint import Scripts, scripted_endpoint


def asks(member: str, task: str) -> tuple[str, dict[str, str]]:
    """The tool call by which a team's leader asks a member."""
    return "delegate_task_to_member", {"member_id": member, "task": task}


def nested(model: Callable[[], Any]) -> None:
    """A leader asks an editor and the leader of a second team, who asks two agents of its own."""
    searcher = Agent(name="searcher", model=model(), instructions="Seat of the searcher.", role="Searches")
    checker = Agent(name="checker", model=model(), instructions="Seat of the checker.", role="Checks")
    research = Team(
        name="research", members=[searcher, checker], model=model(), instructions="Seat of research.", role="Researches"
    )
    editor = Agent(name="editor", model=model(), instructions="Seat of the editor.", role="Edits")
    desk = Team(name="desk", members=[research, editor], model=model(), instructions="Seat of the desk.")
    desk.run("Write about the harbour of Bergen.")


def steps(model: Callable[[], Any]) -> None:
    """A workflow of two agents."""
    writer = Agent(name="writer", model=model(), instructions="Seat of the writer.")
    critic = Agent(name="critic", model=model(), instructions="Seat of the critic.")
    workflow = Workflow(name="review", steps=[Step(name="write", agent=writer), Step(name="review", agent=critic)])
    workflow.run("Write about the harbour of Bergen.")


SCRIPTS: dict[str, Scripts] = {
    "nested": {
        "Seat of the desk": [asks("research", "Find the depth."), asks("editor", "Edit it."), "It is 9 m deep."],
        "Seat of research": [asks("searcher", "How deep?"), asks("checker", "Is it 9 m?"), "9 m, checked."],
        "Seat of the searcher": ["9 m."],
        "Seat of the checker": ["Yes."],
        "Seat of the editor": ["The harbour is 9 m deep."],
    },
    "steps": {"Seat of the writer": ["A draft."], "Seat of the critic": ["Too long."]},
}
TEAMS = {team.__name__: team for team in (nested, steps)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path) as provider, scripted_endpoint(SCRIPTS[team]) as url:
        AgnoInstrumentor().instrument(tracer_provider=provider)
        TEAMS[team](functools.partial(OpenAIChat, id="scripted", api_key="none", base_url=url))
