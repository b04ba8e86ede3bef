"""OpenInference: `openinference.span.kind` with `agent.name`, `graph.node.id` and `tool.name`."""

import re
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_METHOD: Final = re.compile(r"\.(?:run|arun|_?execute_core|kickoff|invoke)(?:_async)?$")
"""Instrumentations of smolagents and CrewAI name an agent's span after the method: `searcher.run`."""

_MODELS: Final = frozenset({"llm", "embedding", "retriever", "reranker"})


def read(span: Span) -> Reading | None:
    """The kind decides. An AGENT without any attribute with its name is named by the span."""
    kind = span.text(genai.OPENINFERENCE_KIND).lower()
    if not kind:
        return None
    if kind == "agent":
        name = span.text((*genai.AGENT_NAME, *genai.GRAPH_NODE)) or _METHOD.sub("", span.name)
        return Reading(Act.AGENT, name.strip(), failed=span.failed)
    if kind == "tool":
        return tool_use(span, span.text(genai.TOOL_NAME) or span.name)
    return Reading(Act.MODEL if kind in _MODELS else Act.WORK, failed=span.failed)
