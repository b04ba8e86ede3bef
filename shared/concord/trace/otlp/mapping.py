"""Maps a span to an interaction step."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from concord.trace.attributes import AGENT_NAME, RETRY_OF
from concord.trace.decoding import FastStep
from concord.trace.otlp import genai
from concord.trace.otlp.spans import Span

MAX_TEXT: Final = 8192
"""Where free text, such as prompts and error messages, is truncated (characters): the size of an attribute."""

_USES: Final = genai.TOOL_OPERATIONS | genai.MODEL_OPERATIONS
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TRACE_ID: Final = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID: Final = re.compile(r"(?!0{16})[0-9a-f]{16}")


class SpanError(ValueError):
    """The span cannot be a step; the message says why."""


def to_step(span: Span, *, agent_name: str = "") -> FastStep:
    """The step of a span. `agent_name`, if given, is recorded as the acting agent within the reporter.

    The call of an agent becomes an AGENT step, the use of a tool, model or index a TOOL step, and everything else a
    HOST step. Raises SpanError.
    """
    check_ids(span)
    try:
        return msgspec.convert(_written(span, agent_name), FastStep)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        raise SpanError(f"{place.removesuffix('`')}: {reason}") from error


def check_ids(span: Span) -> None:
    """Raises SpanError for ids that are not those of a span."""
    if not _TRACE_ID.fullmatch(span.trace_id) or not _SPAN_ID.fullmatch(span.span_id):
        raise SpanError("trace id and span id must be 16 and 8 bytes, not all zero")
    if span.parent_id and not _SPAN_ID.fullmatch(span.parent_id):
        raise SpanError("parent span id must be 8 bytes, not all zero")


def _written(span: Span, agent_name: str) -> dict[str, Any]:
    written: dict[str, Any] = {
        "step_id": span.span_id,
        "trace_id": span.trace_id,
        "call_type": "AGENT" if span.calls_agent else "TOOL",
        "step_action": _call(span) if span.calls_agent else _use(span),
        "additional_attributes": _attributes(span, agent_name),
    }
    if span.parent_id:
        written["parent_step_id"] = span.parent_id
    if span.start_ns:
        written["start_time"] = _moment(span.start_ns)
    if span.end_ns:
        written["end_time"] = _moment(span.end_ns)
    if (tokens := _tokens(span)) is not None:
        written["total_tokens"] = tokens
    return written


def _call(span: Span) -> dict[str, Any]:
    invocation: dict[str, Any] = {"agent_name": span.callee}
    if asked := span.content.input:
        invocation["requests"] = {"input": asked[:MAX_TEXT]}
    return {"agent_invocation": invocation}


def _use(span: Span) -> dict[str, Any]:
    names = genai.MODEL if span.operation in genai.MODEL_OPERATIONS else (*genai.TOOL_NAME, *genai.ENTITY_NAME)
    invocation: dict[str, Any] = {"tool_name": span.text(names) or span.name}
    if arguments := span.text(genai.TOOL_ARGUMENTS):
        invocation["parameters"] = {"arguments": arguments[:MAX_TEXT]}
    return {"tool_invocation": invocation}


def _attributes(span: Span, agent_name: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    operation = span.operation
    if operation:
        attributes["gen_ai.operation.name"] = operation
    if not span.calls_agent and operation not in _USES:
        attributes["call_type"] = "HOST"
    if agent_name:
        attributes[AGENT_NAME] = agent_name
    if repeated := span.text(genai.RETRY_OF):
        attributes[RETRY_OF] = repeated
    if genai.EFFECT_KIND in span.attributes:
        stated = {written: span.text((name,)) for name, written in genai.EFFECTS.items()}
        attributes |= {written: text[:MAX_TEXT] for written, text in stated.items() if text}
    if operation in genai.MODEL_OPERATIONS:
        counts = {"input": span.first(genai.INPUT_TOKENS), "output": span.first(genai.OUTPUT_TOKENS)}
        known = {side: count for side, count in counts.items() if isinstance(count, int) and count >= 0}
        attributes |= {f"gen_ai.usage.{side}_tokens": str(count) for side, count in known.items()}
    if span.failed:
        attributes["error"] = (span.message or span.text(genai.ERROR_TYPE) or "error")[:MAX_TEXT]
    return attributes


def _tokens(span: Span) -> int | None:
    """The tokens used by a model or a tool. An agent's span sums up its children, which would count tokens twice."""
    if span.operation not in _USES:
        return None
    counts = [span.first(genai.INPUT_TOKENS), span.first(genai.OUTPUT_TOKENS)]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


def _moment(nanoseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError as error:
        raise SpanError("a time is out of range") from error
