"""OTLP as MLflow exports it: `mlflow.spanType`, as all values of MLflow in JSON."""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_MODELS: Final = frozenset({"llm", "chat_model", "embedding", "retriever", "reranker"})


def read(span: Span) -> Reading | None:
    """The type decides. An agent is named by its span."""
    kind = span.text(genai.MLFLOW_TYPE).strip('"').lower()
    if not kind:
        return None
    if kind == "agent":
        return Reading(Act.AGENT, span.name, failed=span.failed)
    if kind == "tool":
        return tool_use(span, span.name)
    return Reading(Act.MODEL if kind in _MODELS else Act.WORK, failed=span.failed)
