"""LlamaIndex's agent workflows under OpenInference: each step of an agent is a span, whose event names the agent."""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading, agent_in_arguments
from concord.trace.otlp.spans import Span

_SCOPE: Final = "openinference.instrumentation.llama_index"
MARKS: Final = frozenset({_SCOPE})
_WORKFLOW: Final = "AgentWorkflow"
_AGENT_STEP: Final = f"{_WORKFLOW}.run_agent_step"
_TOOL_STEP: Final = f"{_WORKFLOW}.call_tool"
_HANDOFF: Final = "handoff"
_PREPARES: Final = "._prepare_chat_with_tools"
"""Part of the names of spans that only prepare a call of a model."""


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """A step that runs an agent is its work, and so are the calls of tools until the next such step."""
    steps = sorted(
        (each for each in tree.spans.values() if each.scope == _SCOPE and each.name in {_AGENT_STEP, _TOOL_STEP}),
        key=lambda each: (each.trace_id, each.parent_id, each.start_ns),
    )
    found = {
        each.span_id: Reading(Act.WORK, failed=each.failed)
        for each in tree.spans.values()
        if each.scope == _SCOPE and each.name.endswith(_PREPARES)
    }
    workflow = agent = ""
    for step in steps:
        if step.parent_id != workflow:
            workflow, agent = step.parent_id, ""
        if step.name == _AGENT_STEP:
            agent = step.text(genai.STEP_AGENT)
        if agent:
            found[step.span_id] = Reading(Act.AGENT, agent, failed=step.failed)
        for tool in tree.children.get(step.span_id, ()) if step.name == _TOOL_STEP else ():
            if target := _target(tool):
                found[tool.span_id] = Reading(Act.TOOL, handoff_to=target, failed=tool.failed)
    return reading.changed(found)


def _target(tool: Span) -> str:
    """The agent that a call of the tool `handoff` names; "" for another tool."""
    return agent_in_arguments(tool.content.input) if tool.text(genai.TOOL_NAME) == _HANDOFF else ""
