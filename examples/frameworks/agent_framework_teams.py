"""Microsoft Agent Framework teams with scripted models and its own spans: `agent_framework_teams.py TEAM - FILE`."""

import asyncio
import json
from collections.abc import AsyncIterable
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from agent_framework.observability import ChatTelemetryLayer, enable_instrumentation
from agent_framework.orchestrations import GroupChatBuilder, HandoffBuilder, MagenticBuilder, SequentialBuilder

from recording import arguments, recorded


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):  # type: ignore[misc]
    """Says the lines of its script in order: a text, or the name of a tool."""

    OTEL_PROVIDER_NAME = "scripted"

    def __init__(self, *script: str | tuple[str]) -> None:
        super().__init__()
        self._script = list(script)

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        line = self._script.pop(0)
        content = (
            Content.from_text(line)
            if isinstance(line, str)
            else Content.from_function_call(line[0], line[0], arguments="{}")
        )

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [content])])

        async def pieces() -> AsyncIterable[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=[content])

        return ResponseStream(pieces(), finalizer=ChatResponse.from_updates) if stream else whole()


def _agent(name: str, *script: str | tuple[str]) -> Agent:
    return Agent(
        Scripted(*script), name=name, description=f"The {name}.", require_per_service_call_history_persistence=True
    )


def sequential() -> Any:
    """Three agents in sequence."""
    agents = [_agent("planner", "A plan."), _agent("writer", "A draft."), _agent("editor", "A text.")]
    return SequentialBuilder(participants=agents).build()


def groupchat() -> Any:
    """A function selects who of three agents speaks: four messages."""
    agents = [_agent("planner", "A plan.", "Thanks."), _agent("critic", "Too long."), _agent("writer", "A text.")]
    turns = iter(["planner", "critic", "writer", "planner"])
    return GroupChatBuilder(participants=agents, selection_func=lambda _: next(turns), max_rounds=4).build()


def handoff() -> Any:
    """Triage hands over to an agent, which hands over to a second one."""
    triage = _agent("triage", ("handoff_to_harbour",))
    harbour = _agent("harbour", ("handoff_to_tide",))
    tide = _agent("tide", "At noon.")
    return (
        HandoffBuilder(name="help", participants=[triage, harbour, tide])
        .with_start_agent(triage)
        .add_handoff(triage, [harbour])
        .add_handoff(harbour, [tide])
        .build()
    )


def magentic() -> Any:
    """A manager plans, and asks a searcher, a writer and the searcher again; a critic is never asked."""
    asked = [_progress("searcher"), _progress("writer"), _progress("searcher"), _progress("", done=True)]
    manager = _agent("manager", "Facts.", "A plan.", *asked, "Bergen.")
    workers = [_agent("searcher", "Bergen.", "Still Bergen."), _agent("writer", "A text."), _agent("critic")]
    return MagenticBuilder(participants=workers, manager_agent=manager).build()


def _progress(speaker: str, *, done: bool = False) -> str:
    """What a Magentic manager's model says in each round: who speaks next, or that the work is done."""
    answers = {
        "is_request_satisfied": done,
        "is_in_loop": False,
        "is_progress_being_made": True,
        "next_speaker": speaker,
        "instruction_or_question": "Go on.",
    }
    return json.dumps({name: {"reason": "", "answer": answer} for name, answer in answers.items()})


TEAMS = {team.__name__: team for team in (sequential, groupchat, handoff, magentic)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path):
        enable_instrumentation()
        asyncio.run(TEAMS[team]().run("Write a text."))
