"""Haystack agents with scripted models and Haystack's own spans: `haystack_teams.py TEAM INSTRUMENTATION FILE`."""

from haystack import Pipeline, tracing
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import ComponentTool
from haystack.utils import Secret
from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
from opentelemetry import trace

from recording import arguments, recorded
from scripted_endpoint import Scripts, scripted_endpoint

SCRIPTS: dict[str, Scripts] = {
    "tools": {
        "Seat of the lead": [("expert", {"messages": [{"role": "user", "content": [{"text": "How deep?"}]}]}), "9 m."],
        "Seat of the expert": ["9 m."],
    },
    # The critic's messages have the writer's instructions too.
    "pipeline": {"Seat of the critic": ["Too long."], "Seat of the writer": ["A draft."]},
}


def agent(name: str, url: str, *tools: ComponentTool) -> Agent:
    """An agent with its model."""
    model = OpenAIChatGenerator(model="scripted", api_base_url=url, api_key=Secret.from_token("none"))
    return Agent(chat_generator=model, system_prompt=f"Seat of the {name}.", tools=list(tools))


def tools(url: str) -> None:
    """A lead has an expert as a tool."""
    expert = ComponentTool(component=agent("expert", url), name="expert", description="Knows harbours.")
    pipeline = Pipeline()
    pipeline.add_component("lead", agent("lead", url, expert))
    pipeline.run({"lead": {"messages": [ChatMessage.from_user("How deep is the harbour of Bergen?")]}})


def pipeline(url: str) -> None:
    """A writer, then a critic."""
    made = Pipeline()
    made.add_component("writer", agent("writer", url))
    made.add_component("critic", agent("critic", url))
    made.connect("writer.messages", "critic.messages")
    made.run({"writer": {"messages": [ChatMessage.from_user("Write about the harbour of Bergen.")]}})


TEAMS = {team.__name__: team for team in (tools, pipeline)}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path), scripted_endpoint(SCRIPTS[team]) as url:
        tracing.tracer.is_content_tracing_enabled = True
        tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))
        TEAMS[team](url)
