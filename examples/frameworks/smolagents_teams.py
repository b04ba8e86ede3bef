"""smolagents teams with scripted models: `smolagents_teams.py TEAM INSTRUMENTATION FILE`."""

from typing import Any

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import ChatMessage, MessageRole, Model, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from recording import arguments, recorded


class Scripted(Model):
    """Calls the tools of its script in order."""

    def __init__(self, *script: tuple[str, Any]) -> None:
        super().__init__(model_id="scripted")
        self._script = list(script)

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        name, given = self._script.pop(0)
        call = ChatMessageToolCall(
            id="call", type="function", function=ChatMessageToolCallFunction(name=name, arguments=given)
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def managed() -> None:
    """A manager calls a managed agent twice, and another one once."""
    searcher = ToolCallingAgent(
        tools=[],
        model=Scripted(*[("final_answer", {"answer": "Bergen."})] * 2),
        name="searcher",
        description="Searches.",
    )
    writer = ToolCallingAgent(
        tools=[], model=Scripted(("final_answer", {"answer": "A text."})), name="writer", description="Writes."
    )
    manager = ToolCallingAgent(
        tools=[],
        model=Scripted(
            ("searcher", {"task": "Find a harbour."}),
            ("searcher", {"task": "Find another harbour."}),
            ("writer", {"task": "Write about it."}),
            ("final_answer", {"answer": "Done."}),
        ),
        managed_agents=[searcher, writer],
        name="manager",
    )
    manager.run("Write about a harbour.")


TEAMS = {team.__name__: team for team in (managed,)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path) as provider:
        SmolagentsInstrumentor().instrument(tracer_provider=provider)
        TEAMS[team]()
