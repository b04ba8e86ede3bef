"""What the programs of `tests/recordings` were asked and answered, and their calls of tools, as the traces tell it."""

from pathlib import Path

import pytest

from concord.trace.attributes import RESPONSE_TEXT, TOOL_ARGUMENTS, TOOL_RESULT
from concord.trace.step import CallType
from concord_evaluator.formats import Source, Trace, read_traces

RECORDINGS = Path(__file__).parents[1] / "recordings"
HARBOURS = "Which harbours are open?"

TOLD = {
    "ag2-patterns-auto": ("Write a text.", "Thanks."),
    "ag2-patterns-handoffs": ("Write a text.", "At noon."),
    "ag2-patterns-roundrobin": ("Write a text.", "A better plan."),
    "ag2-tools": ("Write about a harbour.", "Done."),
    "autogen-magentic": ("Write a text.", "Still Bergen."),
    "autogen-roundrobin": ("Write a text.", "A better plan."),
    "autogen-selector": ("Write a text.", "Thanks."),
    "crewai-hierarchical-openllmetry": ("Write about a harbour.", "Done."),
    "crewai-sequential-openinference": ("", "A text."),
    "crewai-sequential-openllmetry": ("Find a harbour.", "A text."),
    "google-adk-1.14-sequential": ("When is low tide?", "Good."),
    "google-adk-1.14-tools": ("When is low tide?", "At noon."),
    "agno-nested": ("Write about the harbour of Bergen.", "It is 9 m deep."),
    "beeai-tools": ("Write about the harbour of Bergen.", "It is 9 m deep."),
    "claude-background-openinference": ("How deep is the harbour of Bergen?", "The harbour of Bergen is 9 m deep."),
    "claude-subagent-openinference": ("How deep is the harbour of Bergen?", "The harbour of Bergen is 9 m deep."),
    "claude-subagent-own": ("How deep is the harbour of Bergen?", ""),
    "haystack-pipeline": ("Write about the harbour of Bergen.", "Too long."),
    "haystack-tools": ("How deep is the harbour of Bergen?", "9 m."),
    "strands-graph": ("Write about the harbours of Norway.", "Work of writer."),
    "strands-swarm": ("Write about the harbour of Bergen.", "It is 9 m deep."),
    "vercel-tools-legacy": ("How deep is the harbour of Bergen?", "It is 9 m deep."),
    "pydantic-ai-delegation-logfire": ("Write a report.", "A report."),
    "pydantic-ai-sequence-logfire": ("Plan.", "Done."),
    "smolagents-managed": ("Write about a harbour.", "Done."),
    **{
        f"langgraph-{team}-{convention}": (HARBOURS, answer)
        for team, answer, conventions in (
            ("agents", "A report.", "langsmith openinference openllmetry"),
            ("chain", "Good.", "langsmith openinference openllmetry"),
            ("subgraphs", "A report.", "langsmith openinference openllmetry"),
            (
                "supervisor",
                "Bergen and Oslo are open.",
                "langfuse langsmith logfire mlflow openinference openllmetry",
            ),
            ("swarm", "Good bye.", "langfuse langsmith logfire mlflow openinference openllmetry"),
            ("tools", "At noon.", "langfuse langsmith logfire mlflow openinference openllmetry"),
        )
        for convention in conventions.split()
    },
}
"""By recording, the task and the final answer. The recordings are cut, and CrewAI's under OpenInference before the
task."""

EXPORTS = {
    "mlflow-trace.json": ("Where to?", "answer to Where to?answer to Where to? again"),
    "otlp.pb": (HARBOURS, "Bergen and Oslo are open."),
    "phoenix-api.json": (HARBOURS, "Bergen and Oslo are open."),
    "phoenix-frame.jsonl": (HARBOURS, "Bergen and Oslo are open."),
}


def recorded(file: str) -> Trace:
    with Path(RECORDINGS, file).open("rb") as stream:
        return next(iter(read_traces(Source(file, stream))))


def told_by_tools(trace: Trace) -> list[tuple[str, str]]:
    """The arguments and the result of each use of a tool."""
    steps = [report.step for report in trace.reports() if report.step.kind is CallType.TOOL]
    used = [(step, step.step_action.tool_invocation) for step in steps if step.step_action is not None]
    return [
        (str((tool.parameters or {}).get(TOOL_ARGUMENTS, "")), step.additional_attributes.get(TOOL_RESULT, ""))
        for step, tool in used
        if tool is not None and "harbours" in tool.tool_name
    ]


def told_by_calls(trace: Trace) -> list[tuple[str, str, str]]:
    """The callee, the request and the response of each call."""
    calls = [(report.step, report.step.agent_call) for report in trace.reports()]
    return [
        (call.agent_name, str((call.requests or {}).get("text", "")), step.additional_attributes.get(RESPONSE_TEXT, ""))
        for step, call in calls
        if call is not None
    ]


@pytest.mark.parametrize("name", TOLD)
def test_a_recording_tells_the_task_and_the_answer(name: str) -> None:
    trace = recorded(f"frameworks/{name}.jsonl")
    assert (trace.task, trace.answer) == TOLD[name]


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_of_a_store_tells_the_task_and_the_answer(name: str) -> None:
    trace = recorded(f"exports/{name}")
    assert (trace.task, trace.answer) == EXPORTS[name]


@pytest.mark.parametrize("convention", ["langfuse", "langsmith", "logfire", "mlflow", "openinference", "openllmetry"])
def test_langgraph_tells_the_texts_of_calls_and_tools_in_every_convention(convention: str) -> None:
    trace = recorded(f"frameworks/langgraph-tools-{convention}.jsonl")
    assert told_by_calls(trace) == [("expert", "When is low tide?", "Low at noon.")]
    [(arguments, result)] = told_by_tools(recorded(f"frameworks/langgraph-swarm-{convention}.jsonl"))
    assert "Norway" in arguments
    assert result == "Bergen, Oslo"


def test_autogen_tells_what_agents_heard_and_said_in_the_messages_of_its_runtime() -> None:
    said = {(callee, text) for callee, text, _ in told_by_calls(recorded("frameworks/autogen-roundrobin.jsonl"))}
    assert said >= {("critic", "A plan."), ("writer", "Too long."), ("planner", "A text.")}
