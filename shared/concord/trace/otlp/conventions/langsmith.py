"""OTLP as langsmith's SDK exports it: `langsmith.span.kind` with `gen_ai.tool.name` and metadata entries."""

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_MODELS = frozenset({"llm", "embedding", "retriever"})


def read(span: Span) -> Reading | None:
    """The kind decides. langsmith has no kind for agents: the framework's mapping finds them."""
    kind = span.text(genai.LANGSMITH_KIND).lower()
    if not kind:
        return None
    if kind == "tool":
        return tool_use(span, span.text(genai.TOOL_NAME) or span.name)
    return Reading(Act.MODEL if kind in _MODELS else Act.WORK, failed=span.failed)
