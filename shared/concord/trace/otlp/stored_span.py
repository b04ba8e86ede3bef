"""Spans as attributes of their steps.

A span alone does not tell which agent works in it. The collector therefore stores each exported span beside its step,
and the evaluator reads all spans of a participant together, as it reads the spans in a file.
"""

import json
from collections.abc import Mapping
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.mapping import MAX_TEXT
from concord.trace.otlp.spans import AttributeValue, Span
from concord.trace.step import StepFacts
from concord.trust.redaction import redact

STORED: Final = "otel_span_"
"""The prefix of these attributes' names."""

_PIECE: Final = 8000
MAX_PIECES: Final = 32
"""The limit of pieces of a span's JSON, of 8000 characters each. Of a longer span, only the step is stored."""

_PROSE: Final = frozenset(genai.INPUT)
"""Attributes that are quoted and never parsed, so they may be truncated."""


def as_attributes(span: Span) -> dict[str, str]:
    """The span in attributes of a step: JSON in pieces; empty for a span that is too long.

    The batch of the step is redacted later, when a secret in two pieces would not be found any more.
    """
    facts = [span.name, span.scope, span.service, span.start_ns, span.end_ns, span.client, span.failed]
    known = {name: _stored(name, value) for name, value in span.attributes.items()}
    text = json.dumps([*facts, span.message[:MAX_TEXT], span.address, known], separators=(",", ":"))
    if len(text) > _PIECE:
        text = redact(text.encode()).decode()
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return {f"{STORED}{number}": piece for number, piece in enumerate(pieces)} if len(pieces) <= MAX_PIECES else {}


def span_of(step: StepFacts) -> Span | None:
    """The span of a step; None without a readable span."""
    pieces: list[str] = []
    while (piece := step.additional_attributes.get(f"{STORED}{len(pieces)}")) is not None:
        pieces.append(piece)
    if not pieces:
        return None
    try:
        name, scope, service, start_ns, end_ns, client, failed, message, address, attributes = json.loads(
            "".join(pieces)
        )
        times = int(start_ns), int(end_ns)
    except (TypeError, ValueError, RecursionError):
        return None
    return Span(
        trace_id=step.trace_id,
        span_id=step.step_id,
        parent_id=step.parent or "",
        name=str(name),
        scope=str(scope),
        service=str(service),
        start_ns=times[0],
        end_ns=times[1],
        client=bool(client),
        failed=bool(failed),
        message=str(message),
        attributes=_known(attributes),
        address=str(address),
    )


def _known(written: object) -> Mapping[str, AttributeValue]:
    if not isinstance(written, dict):
        return {}
    return {name: value for name, value in written.items() if isinstance(value, str | bool | int | float)}


def _stored(name: str, value: AttributeValue) -> AttributeValue:
    return value[:MAX_TEXT] if isinstance(value, str) and name in _PROSE else value
