"""Vercel's AI SDK: `ai.operationId` with `ai.telemetry.functionId`.

So write versions up to 6, and `LegacyOpenTelemetry` later. Its newer spans follow OpenTelemetry's conventions.
"""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_TOOL: Final = "ai.toolCall"
_CALLS: Final = frozenset({"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"})


def read(span: Span) -> Reading | None:
    """A call is the work of the agent that its function id names. The calls of a model inside it start with `do`."""
    operation = span.text(genai.VERCEL_OPERATION)
    if not operation:
        return None
    if operation == _TOOL:
        return tool_use(span, span.text(genai.VERCEL_TOOL))
    if operation in _CALLS and (agent := span.text(genai.VERCEL_FUNCTION)):
        return Reading(Act.AGENT, agent, failed=span.failed)
    is_model = operation.rpartition(".")[2].startswith("do")
    return Reading(Act.MODEL if is_model else Act.WORK, failed=span.failed)
