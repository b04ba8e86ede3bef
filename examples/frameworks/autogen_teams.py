"""AutoGen teams with scripted models and AutoGen's own spans: `autogen_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
import json
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import HandoffTermination, MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import MagenticOneGroupChat, RoundRobinGroupChat, SelectorGroupChat, Swarm
from autogen_agentchat.tools import TeamTool
from autogen_core import FunctionCall, SingleThreadedAgentRuntime
from autogen_core.models import CreateResult, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from opentelemetry.sdk.trace import TracerProvider

from recording import arguments, recorded

MODEL: Any = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": ""}


def says(*script: str | tuple[str, str]) -> ReplayChatCompletionClient:
    """A model with this script: a text, or the name and the arguments of a tool."""
    lines = [line if isinstance(line, str) else _call(*line) for line in script]
    return ReplayChatCompletionClient(lines, model_info=MODEL)


def _call(name: str, given: str) -> CreateResult:
    return CreateResult(
        finish_reason="function_calls",
        content=[FunctionCall(id=name, name=name, arguments=given)],
        usage=RequestUsage(prompt_tokens=1, completion_tokens=1),
        cached=False,
    )


def roundrobin(runtime: Any) -> Any:
    """Three agents speak in turn, four messages."""
    return RoundRobinGroupChat(
        [
            AssistantAgent("planner", says("A plan.", "A better plan.")),
            AssistantAgent("critic", says("Too long.")),
            AssistantAgent("writer", says("A text.")),
        ],
        termination_condition=MaxMessageTermination(5),
        runtime=runtime,
    )


def selector(runtime: Any) -> Any:
    """A model selects who of three agents speaks; one never does."""
    return SelectorGroupChat(
        [
            AssistantAgent("planner", says("A plan.", "Thanks."), description="Plans."),
            AssistantAgent("critic", says("Too long."), description="Criticises."),
            AssistantAgent("writer", says(), description="Writes."),
        ],
        model_client=says("planner", "critic", "planner"),
        termination_condition=MaxMessageTermination(4),
        runtime=runtime,
    )


def swarm(runtime: Any) -> Any:
    """Agents hand over to each other and at last to the user."""
    return Swarm(
        [
            AssistantAgent("alice", says(("transfer_to_bob", "{}")), handoffs=["bob"]),
            AssistantAgent("bob", says(("transfer_to_carol", "{}")), handoffs=["carol"]),
            AssistantAgent("carol", says(("transfer_to_user", "{}")), handoffs=["user"]),
        ],
        termination_condition=HandoffTermination("user"),
        runtime=runtime,
    )


def magentic(runtime: Any) -> Any:
    """An orchestrator plans, and asks a searcher, a writer and the searcher again; a critic is never asked."""
    asked = [progress("searcher"), progress("writer"), progress("searcher"), progress("", done=True)]
    return MagenticOneGroupChat(
        [
            AssistantAgent("searcher", says("Bergen.", "Still Bergen."), description="Searches."),
            AssistantAgent("writer", says("A text."), description="Writes."),
            AssistantAgent("critic", says(), description="Criticises."),
        ],
        model_client=says("Facts.", "A plan.", *asked, "Bergen."),
        runtime=runtime,
    )


def progress(speaker: str, *, done: bool = False) -> str:
    """What an orchestrator's model says in each round: who speaks next, or that the work is done."""
    answers = {
        "is_request_satisfied": done,
        "is_in_loop": False,
        "is_progress_being_made": True,
        "next_speaker": speaker,
        "instruction_or_question": "Go on.",
    }
    return json.dumps({name: {"reason": "", "answer": answer} for name, answer in answers.items()})


def nested(runtime: Any) -> Any:
    """A lead asks a team of two as a tool, which talks in its own runtime."""
    inner = RoundRobinGroupChat(
        [AssistantAgent("searcher", says("Bergen.")), AssistantAgent("checker", says("Checked."))],
        termination_condition=MaxMessageTermination(3),
    )
    asked = TeamTool(inner, name="research", description="Researches.")
    return RoundRobinGroupChat(
        [
            AssistantAgent("lead", says(("research", '{"task": "Which harbour?"}')), tools=[asked]),
            AssistantAgent("writer", says("A text.")),
        ],
        termination_condition=TextMentionTermination("A text."),
        runtime=runtime,
    )


async def run(team: Any, provider: TracerProvider) -> None:
    """Runs the team on one task, in a runtime with spans."""
    runtime = SingleThreadedAgentRuntime(tracer_provider=provider)
    runtime.start()
    await team(runtime).run(task="Write a text.")
    await runtime.stop_when_idle()


TEAMS = {team.__name__: team for team in (roundrobin, selector, swarm, magentic, nested)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path) as provider:
        asyncio.run(run(TEAMS[team], provider))
