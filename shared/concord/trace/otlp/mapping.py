"""Maps a span to an interaction step."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec.structs import replace

from concord.trace.attributes import AGENT_NAME, ERROR_TYPE, RETRY_OF
from concord.trace.otlp import genai
from concord.trace.otlp.spans import Span
from concord.trace.step import MAX_NAME_LENGTH, MAX_VALUE_LENGTH, CallType
from concord.trace.stored_step import CalledAgent, Invocation, Json, Step, UsedTool

MAX_TEXT: Final = 8192
"""Where free text, such as prompts and error messages, is truncated (characters): the size of an attribute."""

_MAX_ATTRIBUTE: Final = 256 * 1024
"""Where the collector cuts any other attribute (characters): structures such as a graph need more than `MAX_TEXT`."""

_USES: Final = genai.TOOL_OPERATIONS | genai.MODEL_OPERATIONS
_STATED: Final = _USES | genai.AGENT_OPERATIONS
"""The operations whose steps are no HOST steps."""

_TOOL_NAMES: Final = (*genai.TOOL_NAME, *genai.ENTITY_NAME)
_LIMITED: Final = frozenset((*genai.OPERATION, *genai.AGENT_NAME, *_TOOL_NAMES, *genai.MODEL, *genai.RETRY_OF))
"""Attributes of a span that its step has whole."""

_AGENT, _TOOL = CallType.AGENT, CallType.TOOL
_MIN_INT64, _MAX_INT64, _MAX_UINT64 = -(2**63), 2**63 - 1, 2**64 - 1
_MAX_SUMMAND: Final = 2**62
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TRACE_ID: Final = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID: Final = re.compile(r"(?!0{16})[0-9a-f]{16}")
_IDS: Final = re.compile(f"{_TRACE_ID.pattern} {_SPAN_ID.pattern} (?:{_SPAN_ID.pattern})?")


class SpanError(ValueError):
    """The span cannot be a step; the message says why."""


def to_step(span: Span, *, with_agent: bool = False) -> Step:
    """The step of a span. `with_agent`: with the agent that did the work, as far as the span says so.

    The call of an agent becomes an AGENT step, the use of a tool, model or index a TOOL step, and everything else a
    HOST step. Its attributes are its own, to be added to. Raises SpanError.
    """
    check_ids(span)
    return step_of(span, with_agent=with_agent)


def step_of(span: Span, *, with_agent: bool = False) -> Step:
    """The same for a span whose ids are checked."""
    operation = span.operation
    calls_agent = operation in genai.AGENT_OPERATIONS
    tokens = _tokens(span) if operation in _USES else {}
    agent = span.text(genai.AGENT_NAME) if with_agent and not calls_agent else ""
    step = Step(
        span.span_id,
        span.trace_id,
        _AGENT if calls_agent else _TOOL,
        span.parent_id or None,
        _call(span) if calls_agent else _use(span, operation),
        total_tokens=sum(tokens.values()) if tokens else None,
        additional_attributes=_attributes(span, operation, tokens, agent),
        start_time=_moment(span.start_ns) if span.start_ns else None,
        end_time=_moment(span.end_ns) if span.end_ns else None,
    )
    if not _is_within_limits(step):
        _check(step)
    return step


def shortened(span: Span) -> tuple[Span, int]:
    """The span with its oversized texts cut, and their number: names, which stay distinct, and other attributes."""
    attributes = span.attributes
    cut = {name: text for name, value in attributes.items() if (text := _cut(name, value)) is not None}
    if not cut and len(span.name) <= MAX_NAME_LENGTH:
        return span, 0
    name = span.name if len(span.name) <= MAX_NAME_LENGTH else _short_name(span.name)
    return replace(span, name=name, attributes={**attributes, **cut}), len(cut) + (name is not span.name)


def _cut(name: str, value: genai.AttributeValue) -> str | None:
    """The shorter text of an oversized attribute; None for any other."""
    if not isinstance(value, str) or len(value) <= MAX_NAME_LENGTH:
        return None
    if name in _LIMITED:
        return _short_name(value)
    return value[:_MAX_ATTRIBUTE] if len(value) > _MAX_ATTRIBUTE else None


def _short_name(name: str) -> str:
    rest = blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()
    return f"{name[: MAX_NAME_LENGTH - len(rest) - 1]}-{rest}"


def storable(span: Span) -> Span:
    """The span in the form in which it can be stored and become a step. Raises SpanError for one that cannot."""
    if _is_usual(span):
        check_ids(span)
        return span
    kept = {name: value for name, each in span.attributes.items() if (value := _storable(each)) is not None}
    stored = replace(span, message=span.message[:MAX_TEXT], attributes=kept)
    to_step(stored, with_agent=True)
    if not (_MIN_INT64 <= span.start_ns <= _MAX_UINT64 and _MIN_INT64 <= span.end_ns <= _MAX_UINT64):
        raise SpanError("a time is out of range")
    return stored


def _is_usual(span: Span) -> bool:
    """Whether a span is far within all limits of a step and of JSON, as nearly all are."""
    if (
        len(span.name) > MAX_NAME_LENGTH
        or len(span.message) > MAX_TEXT
        or not 0 <= span.start_ns <= _MAX_INT64
        or not 0 <= span.end_ns <= _MAX_INT64
    ):
        return False
    for name, value in span.attributes.items():
        if isinstance(value, str):
            if len(value) > MAX_NAME_LENGTH and name in _LIMITED:
                return False
        elif not -_MAX_SUMMAND < value < _MAX_SUMMAND:
            return False
    return True


def _storable(value: genai.AttributeValue) -> genai.AttributeValue | None:
    """A value as JSON can have it; None for a number that is none. Integers beyond 64 bits become texts."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, int) and not _MIN_INT64 <= value <= _MAX_INT64 else value


def check_ids(span: Span) -> None:
    """Raises SpanError for ids that are not those of a span."""
    if _IDS.fullmatch(f"{span.trace_id} {span.span_id} {span.parent_id}"):
        return
    if not _TRACE_ID.fullmatch(span.trace_id) or not _SPAN_ID.fullmatch(span.span_id):
        raise SpanError("trace id and span id must be 16 and 8 bytes, not all zero")
    raise SpanError("parent span id must be 8 bytes, not all zero")


def _is_within_limits(step: Step) -> bool:
    """Whether the fields that take over what a span says without a limit are short enough, which nearly all are."""
    action, tokens = step.step_action, step.total_tokens
    call = None if action is None else action.agent_invocation
    used = None if action is None else action.tool_invocation
    name = call.agent_name if call is not None else used.tool_name if used is not None else ""
    return (
        len(name) <= MAX_NAME_LENGTH
        and (tokens is None or _MIN_INT64 <= tokens <= _MAX_INT64)
        and max(map(len, step.additional_attributes.values()), default=0) <= MAX_VALUE_LENGTH
    )


def _check(step: Step) -> None:
    """Raises SpanError, with the reason, for a step with a field beyond its limits."""
    try:
        msgspec.convert(msgspec.to_builtins(step), Step)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        raise SpanError(f"{place.removesuffix('`')}: {reason}") from error


def _call(span: Span) -> Invocation:
    asked = span.content.input
    requests: dict[str, Json] | None = {"input": asked[:MAX_TEXT]} if asked else None
    return Invocation(agent_invocation=CalledAgent(agent_name=span.callee[:MAX_NAME_LENGTH], requests=requests))


def _use(span: Span, operation: str) -> Invocation:
    name = span.text(genai.MODEL if operation in genai.MODEL_OPERATIONS else _TOOL_NAMES) or span.filled_name
    arguments = span.text(genai.TOOL_ARGUMENTS)
    parameters: dict[str, Json] | None = {"arguments": arguments[:MAX_TEXT]} if arguments else None
    return Invocation(tool_invocation=UsedTool(name, parameters))


def _attributes(span: Span, operation: str, tokens: Mapping[str, int], agent: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    if operation:
        attributes["gen_ai.operation.name"] = operation
    if operation not in _STATED:
        attributes["call_type"] = "HOST"
    if agent:
        attributes[AGENT_NAME] = agent
    if repeated := span.text(genai.RETRY_OF):
        attributes[RETRY_OF] = repeated
    if genai.EFFECT_KIND in span.attributes:
        stated = {written: span.text((name,)) for name, written in genai.EFFECTS.items()}
        attributes |= {written: text[:MAX_TEXT] for written, text in stated.items() if text}
    if tokens and operation in genai.MODEL_OPERATIONS:
        attributes |= {name: str(count) for name, count in tokens.items() if count >= 0}
    if span.failed:
        kind = span.text(genai.THROWN_TYPE)
        attributes["error"] = (span.message or span.text(genai.EXCEPTION) or kind or "error")[:MAX_TEXT]
        attributes |= {ERROR_TYPE: kind[:MAX_TEXT]} if kind else {}
    return attributes


def _tokens(span: Span) -> dict[str, int]:
    """The tokens used by a model or a tool, by the name of the attribute, as far as the span tells them.

    An agent's span sums up its children, which would count tokens twice.
    """
    found: dict[str, int] = {}
    for names in (genai.INPUT_TOKENS, genai.OUTPUT_TOKENS):
        if isinstance(count := span.first(names), int):
            found[names[0]] = count
    return found


def _moment(nanoseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(0, 0, nanoseconds // 1000)
    except OverflowError as error:
        raise SpanError("a time is out of range") from error
