"""Haystack 3, under its own package for OpenTelemetry. An agent's span does not name it: the span around it does."""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading, tool_use
from concord.trace.otlp.spans import Span

_SCOPE: Final = "haystack"
MARKS: Final = frozenset({_SCOPE})
_NAMES: Final = (*genai.HAYSTACK_COMPONENT, *genai.HAYSTACK_TOOL)
_ACTS: Final = {"haystack.pipeline.run": Act.TEAM, "haystack.agent.step.llm": Act.MODEL}


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """An agent has the name of its component in a pipeline, or of the tool as which another agent has it."""
    ours = [span for span in tree.spans.values() if span.scope == _SCOPE]
    return reading.changed({span.span_id: found for span in ours if (found := _read(tree, span)) is not None})


def _read(tree: SpanTree, span: Span) -> Reading | None:
    if span.name == "haystack.agent.run":
        around = tree.spans.get(span.parent_id)
        name = "" if around is None else around.text(_NAMES)
        return Reading(Act.AGENT, name or "agent", failed=span.failed)
    if span.name == "haystack.agent.step.tool":
        return tool_use(span, span.text(genai.HAYSTACK_TOOL))
    act = _ACTS.get(span.name)
    return None if act is None else Reading(act, failed=span.failed)
