"""OpenAI Agents SDK teams with scripted models: `openai_agents_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, handoff, set_trace_processors
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from recording import arguments, exported, recorded


class Scripted(Model):
    """Says the lines of its script in order: a text, or the name and the arguments of a tool."""

    def __init__(self, *script: str | tuple[str, dict[str, Any]]) -> None:
        self._script = list(script)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        line = self._script.pop(0)
        usage = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
        if isinstance(line, str):
            text = ResponseOutputText(text=line, type="output_text", annotations=[])
            output: Any = ResponseOutputMessage(
                id="message", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            output = ResponseFunctionToolCall(
                id=line[0], call_id=line[0], type="function_call", name=line[0], arguments=json.dumps(line[1])
            )
        return ModelResponse(output=[output], usage=usage, response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def harbours(country: str) -> str:
    """List the open harbours of a country."""
    return "Bergen, Oslo"


async def handoffs() -> None:
    """Triage hands over to an expert, who hands over to a second one."""
    second = Agent(name="Tide Expert", model=Scripted("Low tide is at noon."))
    first = Agent(
        name="Harbour Expert",
        model=Scripted(("harbours", {"country": "Norway"}), ("transfer_to_tide_expert", {})),
        tools=[harbours],
        handoffs=[handoff(second)],
    )
    triage = Agent(name="Triage", model=Scripted(("transfer_to_harbour_expert", {})), handoffs=[first])
    await Runner.run(triage, "Which harbours are open?")


async def tools() -> None:
    """A manager has two agents as tools; the second one fails."""
    writer = Agent(name="Writer", model=Scripted("A draft."))
    critic = Agent(name="Critic", model=Scripted())
    manager = Agent(
        name="Manager",
        model=Scripted(("write", {"input": "A report"}), ("criticise", {"input": "A draft."}), "A report."),
        tools=[writer.as_tool("write", "Write a text"), critic.as_tool("criticise", "Criticise a text")],
    )
    await Runner.run(manager, "Write a report.")


TEAMS = {team.__name__: team for team in (handoffs, tools)}


def openinference(provider: TracerProvider) -> None:
    """OpenInference's spans."""
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider: TracerProvider) -> None:
    """OpenLLMetry's spans."""
    from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {each.__name__: each for each in (openinference, openllmetry)}


def under_logfire(path: Path, team: str) -> None:
    """Runs a team with logfire's spans."""
    import logfire

    with exported(path) as exporter:
        logfire.configure(
            send_to_logfire=False, console=False, additional_span_processors=[SimpleSpanProcessor(exporter)]
        )
        logfire.instrument_openai_agents()
        asyncio.run(TEAMS[team]())


if __name__ == "__main__":
    team, instrumentation, path = arguments()
    set_trace_processors([])
    if instrumentation == "logfire":
        under_logfire(path, team)
    else:
        with recorded(path) as provider:
            INSTRUMENTATIONS[instrumentation](provider)
            asyncio.run(TEAMS[team]())
