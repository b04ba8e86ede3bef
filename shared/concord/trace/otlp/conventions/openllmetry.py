"""OpenLLMetry: `traceloop.span.kind` with `traceloop.entity.name`; spans of models have OpenTelemetry's names."""

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span


def read(span: Span) -> Reading | None:
    """The kind decides."""
    kind = span.text(genai.OPENLLMETRY_KIND).lower()
    if not kind:
        return None
    if kind == "agent":
        name = span.text((*genai.AGENT_NAME, *genai.ENTITY_NAME)) or span.name.removesuffix(".agent")
        return Reading(Act.AGENT, name, failed=span.failed)
    if kind == "tool":
        return tool_use(span, span.text((*genai.TOOL_NAME, *genai.ENTITY_NAME)))
    return Reading(Act.TEAM if kind in genai.TEAM_OPERATIONS else Act.WORK, failed=span.failed)
