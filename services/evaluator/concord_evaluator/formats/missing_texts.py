"""The warning about a recording without texts, and the setting by which its recorder writes them. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from concord.trace.otlp import Act, Span
from concord_evaluator.formats.span_recordings import Recording

_GENAI: Final = (
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (SPAN_AND_EVENT, where "
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental is set)"
)
_SETTINGS: Final = (
    ("com.anthropic.claude_code", "OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1"),
    ("agent_framework", "ENABLE_SENSITIVE_DATA=true"),
    ("semantic_kernel", "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
    ("openinference", "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false"),
    ("gcp.vertex.agent", f"ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true, or in ADK 2 {_GENAI}"),
    ("traceloop", "TRACELOOP_TRACE_CONTENT=true"),
    ("langsmith", "LANGSMITH_HIDE_INPUTS=false and LANGSMITH_HIDE_OUTPUTS=false"),
    ("pydantic-ai", "InstrumentationSettings(include_content=True)"),
    ("ai.", "recordInputs and recordOutputs in `experimental_telemetry`"),
    ("gen_ai.", _GENAI),
)
"""By how scopes and attributes of a recorder begin, its setting; the more precise beginnings come first.

Sources: the documentation of each."""

_HIDDEN: Final = frozenset({"", "__REDACTED__", "<REDACTED>"})
"""What OpenInference and Claude Code write in the place of a text that they hide."""


def missing_texts(recordings: Iterable[Recording]) -> Iterator[str]:
    """The warning about a file that calls models and tells no text, once for all its traces."""
    asks = any(each.act is Act.MODEL for recording in recordings for each in recording.reading.spans.values())
    if not asks or any(_tells(span) for recording in recordings for span in recording.visible):
        return
    marks = frozenset[str]().union(*(recording.tree.marks for recording in recordings))
    setting = next((setting for start, setting in _SETTINGS if any(mark.startswith(start) for mark in marks)), "")
    if setting:
        yield f"the spans have no texts: to record what agents are asked and answer, set {setting}"


def _tells(span: Span) -> bool:
    return not {span.content.input, span.content.output} <= _HIDDEN
