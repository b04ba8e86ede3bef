"""BeeAI under OpenInference, which gives the checks of an agent's tools the kind of an agent."""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading

_SCOPE: Final = "openinference.instrumentation.beeai"
MARKS: Final = frozenset({_SCOPE})


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """A span of the kind AGENT without `agent.name` is not an agent, but a requirement of one, such as a guardrail."""
    checks = {
        span.span_id: Reading(Act.WORK, failed=span.failed)
        for span in tree.spans.values()
        if span.scope == _SCOPE and not span.text(genai.AGENT_NAME) and _is_agent(reading, span.span_id)
    }
    return reading.changed(checks)


def _is_agent(reading: TeamReading, span_id: str) -> bool:
    known = reading.spans.get(span_id)
    return known is not None and known.act is Act.AGENT
