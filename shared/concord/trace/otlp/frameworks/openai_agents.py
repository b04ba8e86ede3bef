"""OpenAI Agents SDK under OpenInference: the run's own spans are not agents, and a handoff is a span of its own."""

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading

_SCOPE = "openinference.instrumentation.openai_agents"


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """Only spans with `agent.name` or `graph.node.id` are agents. (`handoff to X` is read as every handoff tool.)"""
    runs = {
        span.span_id: Reading(Act.TEAM, failed=span.failed)
        for span in tree.spans.values()
        if span.scope == _SCOPE
        and (known := reading.spans.get(span.span_id)) is not None
        and known.act is Act.AGENT
        and not span.text((*genai.AGENT_NAME, *genai.GRAPH_NODE))
    }
    return reading.changed(runs)
