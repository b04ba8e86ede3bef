"""OTLP as Langfuse's SDK exports it: `langfuse.observation.type`, and failures as levels."""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_MODELS: Final = frozenset({"generation", "embedding", "retriever"})


def read(span: Span) -> Reading | None:
    """The type decides. An agent is named by its span."""
    kind = span.text(genai.LANGFUSE_TYPE).lower()
    if not kind:
        return None
    failed = span.failed or span.text(genai.LANGFUSE_LEVEL) == "ERROR"
    if kind == "agent":
        return Reading(Act.AGENT, span.name, failed=failed)
    if kind == "tool":
        return tool_use(span, span.name, failed=failed)
    return Reading(Act.MODEL if kind in _MODELS else Act.WORK, failed=failed)
