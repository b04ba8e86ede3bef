"""pydantic-ai teams with scripted models, instrumented by logfire: `pydantic_ai_teams.py TEAM INSTRUMENTATION FILE`."""

import asyncio
from typing import Any

import logfire
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recording import SERVICE, arguments, exported


def says(*script: str | tuple[str, dict[str, Any]]) -> FunctionModel:
    """A model with this script: a text, or the name and the arguments of a tool."""
    lines = list(script)

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        line = lines.pop(0)
        return ModelResponse([TextPart(line) if isinstance(line, str) else ToolCallPart(*line)])

    return FunctionModel(answer)


async def delegation() -> None:
    """An agent calls two others inside its tools."""
    writer = Agent(says("A draft."), name="writer")
    critic = Agent(says("Too long.", "Good."), name="critic")
    lead = Agent(says(("write", {}), ("criticise", {}), ("criticise", {}), "A report."), name="lead")

    @lead.tool
    async def write(context: RunContext[None]) -> str:
        return (await writer.run("Write.", usage=context.usage)).output

    @lead.tool
    async def criticise(context: RunContext[None]) -> str:
        return (await critic.run("Criticise.", usage=context.usage)).output

    await lead.run("Write a report.")


async def sequence() -> None:
    """A program runs two agents, one after the other, in a span of its own."""
    planner, worker = Agent(says("A plan."), name="planner"), Agent(says("Done."), name="worker")
    with logfire.span("plan and work"):
        plan = await planner.run("Plan.")
        await worker.run(plan.output)


TEAMS = {team.__name__: team for team in (delegation, sequence)}


if __name__ == "__main__":
    team, _, path = arguments()
    with exported(path) as exporter:
        logfire.configure(
            send_to_logfire=False,
            console=False,
            service_name=SERVICE,
            additional_span_processors=[SimpleSpanProcessor(exporter)],
        )
        logfire.instrument_pydantic_ai()
        asyncio.run(TEAMS[team]())
        logfire.force_flush()
