"""LangGraph teams with scripted models: `langgraph_teams.py TEAM INSTRUMENTATION FILE`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command, interrupt
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from recording import SERVICE, arguments, exported, received, recorded

THREAD: Any = {"configurable": {"thread_id": "thread-1"}}
ASK: Any = {"messages": [("user", "Which harbours are open?")]}


class Scripted(BaseChatModel):
    """Says the lines of its script in order."""

    script: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        line = self.script.pop(0)
        return ChatResult(generations=[ChatGeneration(message=line)])


def says(*lines: str | tuple[str, dict[str, Any]]) -> Scripted:
    """A model with this script: a text, or the name and the arguments of a tool."""
    script = [
        AIMessage(line)
        if isinstance(line, str)
        else AIMessage("", tool_calls=[{"name": line[0], "args": line[1], "id": f"call-{number}"}])
        for number, line in enumerate(lines)
    ]
    return Scripted(script=script)


@tool
def harbours(country: str) -> str:
    """List the open harbours of a country."""
    return "Bergen, Oslo"


@tool
def tides(harbour: str) -> str:
    """Look up the tides of a harbour."""
    raise ToolException("no tide table")


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


def supervisor() -> None:
    """A supervisor delegates to two agents; a tool of the second one fails."""
    research = create_react_agent(
        says(("harbours", {"country": "Norway"}), "Bergen and Oslo."), [harbours], name="research"
    )
    tide = create_react_agent(says(("tides", {"harbour": "Oslo"}), "Unknown."), [_forgiving(tides)], name="tide_reader")
    chief = says(("transfer_to_research", {}), ("transfer_to_tide_reader", {}), "Bergen and Oslo are open.")
    create_supervisor([research, tide], model=chief, supervisor_name="chief").compile().invoke(ASK)


def _forgiving(used: Any) -> Any:
    used.handle_tool_error = True
    return used


def swarm() -> None:
    """Two agents hand over to each other with `Command`s."""
    alice = create_react_agent(
        says(("transfer_to_bob", {}), "Good bye."), [create_handoff_tool(agent_name="bob")], name="alice"
    )
    bob = create_react_agent(
        says(("harbours", {"country": "Norway"}), ("transfer_to_alice", {})),
        [harbours, create_handoff_tool(agent_name="alice")],
        name="bob",
    )
    create_swarm([alice, bob], default_active_agent="alice").compile(checkpointer=InMemorySaver()).invoke(ASK, THREAD)


def chain() -> None:
    """Three nodes with models in sequence, one of which goes back once with `goto`; a last node without a model."""
    graph = StateGraph(State)
    models = {
        "researcher": says("Bergen and Oslo."),
        "writer": says("A draft.", "A better draft."),
        "editor": says("Not good enough.", "Good."),
    }

    def work(name: str) -> Any:
        return lambda state: {"messages": [models[name].invoke(state["messages"])]}

    def editor(state: State) -> Command[Any]:
        verdict = models["editor"].invoke(state["messages"])
        return Command(goto="publish" if verdict.content == "Good." else "writer", update={"messages": [verdict]})

    graph.add_node("researcher", work("researcher"))
    graph.add_node("writer", work("writer"))
    graph.add_node("editor", editor, destinations=("writer", "publish"))
    graph.add_node("publish", lambda state: {"messages": []})
    graph.add_edge(START, "researcher")
    graph.add_edge("researcher", "writer")
    graph.add_edge("writer", "editor")
    graph.add_edge("publish", END)
    graph.compile().invoke(ASK)


def parallel() -> None:
    """A planner, two agents in parallel, and a writer."""
    graph = StateGraph(State)
    for name in ("planner", "north", "south", "writer"):
        graph.add_node(name, create_agent(says(f"The work of {name}."), [], name=name))
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "north")
    graph.add_edge("planner", "south")
    graph.add_edge(["north", "south"], "writer")
    graph.compile().invoke(ASK)


def subgraphs() -> None:
    """A node that is a graph of two agents, followed by an agent."""
    team = StateGraph(State)
    team.add_node(
        "searcher", create_react_agent(says(("harbours", {"country": "Norway"}), "Found."), [harbours], name="searcher")
    )
    team.add_node("checker", create_react_agent(says("Checked."), [], name="checker"))
    team.add_edge(START, "searcher")
    team.add_edge("searcher", "checker")
    graph = StateGraph(State)
    graph.add_node("field_team", team.compile())
    graph.add_node("writer", create_react_agent(says("A report."), [], name="writer"))
    graph.add_edge(START, "field_team")
    graph.add_edge("field_team", "writer")
    graph.compile().invoke(ASK)


def tools() -> None:
    """An agent has another agent as a tool."""
    expert = create_react_agent(says("Low at noon."), [], name="expert")

    @tool
    def ask_expert(question: str) -> str:
        """Ask the expert."""
        return str(expert.invoke({"messages": [("user", question)]})["messages"][-1].content)

    lead = create_react_agent(
        says(("ask_expert", {"question": "When is low tide?"}), "At noon."), [ask_expert], name="lead"
    )
    lead.invoke(ASK)


def agents() -> None:
    """A node is an agent of LangChain 1, with middleware and another agent as a tool; a second one follows."""
    expert = create_agent(says("Low at noon."), [], name="expert")

    @tool
    def ask_expert(question: str) -> str:
        """Ask the expert."""
        return str(expert.invoke({"messages": [("user", question)]})["messages"][-1].content)

    @before_model
    def check(state: Any, runtime: Any) -> None:
        return None

    lead = create_agent(says(("ask_expert", {"question": "When?"}), "At noon."), [ask_expert], middleware=[check])
    graph = StateGraph(State)
    graph.add_node("lead", lead)
    graph.add_node("writer", create_agent(says("A report."), [], name="writer"))
    graph.add_edge(START, "lead")
    graph.add_edge("lead", "writer")
    graph.compile().invoke(ASK)


def interrupted() -> None:
    """A graph stops for an approval, and a second call resumes it: two traces of one thread."""
    graph = StateGraph(State)
    planner, worker = says("The plan."), says("Done.")

    def approve(_: State) -> State:
        interrupt("Approve?")
        return {"messages": []}

    graph.add_node("planner", lambda state: {"messages": [planner.invoke(state["messages"])]})
    graph.add_node("approval", approve)
    graph.add_node("worker", lambda state: {"messages": [worker.invoke(state["messages"])]})
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "approval")
    graph.add_edge("approval", "worker")
    app = graph.compile(checkpointer=InMemorySaver())
    app.invoke(ASK, THREAD)
    app.invoke(Command(resume="yes"), THREAD)


def instrument(instrumentation: str, provider: TracerProvider) -> None:
    """Turns on one instrumentation."""
    if instrumentation == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor as OpenInference

        OpenInference().instrument(tracer_provider=provider)
    elif instrumentation == "openllmetry":
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor as OpenLLMetry

        OpenLLMetry().instrument(tracer_provider=provider)
    elif instrumentation in {"langsmith", "logfire"}:
        os.environ |= {"LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true", "LANGSMITH_TRACING": "true"}
        os.environ |= {"LANGSMITH_API_KEY": "none", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}
        os.environ["LANGCHAIN_REVISION_ID"] = "none"


@contextmanager
def under_logfire(path: Path) -> Iterator[TracerProvider]:
    """Logfire's tracer provider, which the spans of langsmith's SDK go to."""
    import logfire

    with exported(path) as exporter:
        processors = [SimpleSpanProcessor(exporter)]
        logfire.configure(
            send_to_logfire=False, console=False, service_name=SERVICE, additional_span_processors=processors
        )
        yield trace.get_tracer_provider()
        logfire.force_flush()


@contextmanager
def under_langfuse(path: Path) -> Iterator[TracerProvider]:
    """Langfuse's SDK, which exports by OTLP, and whose callback handler sees every graph."""
    from langchain_core.tracers.context import register_configure_hook
    from langfuse import Langfuse
    from langfuse.langchain import CallbackHandler

    os.environ["OTEL_SERVICE_NAME"] = SERVICE
    with received(path) as url:
        client = Langfuse(public_key="none", secret_key="none", base_url=url)  # noqa: S106
        handler: ContextVar[Any] = ContextVar("handler", default=None)
        handler.set(CallbackHandler(public_key="none"))
        register_configure_hook(handler, inheritable=True)
        yield trace.get_tracer_provider()
        client.flush()


@contextmanager
def under_mlflow(path: Path) -> Iterator[TracerProvider]:
    """MLflow's autolog, which exports by OTLP."""
    import mlflow
    import mlflow.tracing.provider

    with received(path) as url:
        os.environ |= {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{url}/v1/traces", "OTEL_SERVICE_NAME": SERVICE}
        os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
        mlflow.langchain.autolog()
        yield trace.get_tracer_provider()
        mlflow.tracing.provider.provider.get().force_flush()


def flush(instrumentation: str) -> None:
    """Waits for spans that are made in the background."""
    if instrumentation in {"langsmith", "logfire"}:
        from langchain_core.tracers.langchain import wait_for_all_tracers

        wait_for_all_tracers()


TEAMS = {team.__name__: team for team in (supervisor, swarm, chain, parallel, subgraphs, tools, agents, interrupted)}
PROVIDERS = {"logfire": under_logfire, "langfuse": under_langfuse, "mlflow": under_mlflow}

if __name__ == "__main__":
    team, instrumentation, path = arguments()
    with PROVIDERS.get(instrumentation, recorded)(path) as provider:
        instrument(instrumentation, provider)
        TEAMS[team]()
        flush(instrumentation)
