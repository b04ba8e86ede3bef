"""Spans as attributes of their steps, in which a batch of spans is written as a batch of steps.

Of an export's library internals, one becomes a step, with the parents of the others: their children may come in another
export.
"""

import json
from collections.abc import Iterable
from itertools import count, takewhile
from typing import Final

import msgspec
from msgspec.structs import replace

from concord.trace.otlp.content import NOTHING, with_content
from concord.trace.otlp.genai import AttributeValue
from concord.trace.otlp.mapping import MAX_TEXT
from concord.trace.otlp.spans import Span
from concord.trace.stored_step import Step
from concord.trust.redaction import redact

STORED: Final = "otel_span_"
"""The prefix of these attributes' names."""

LINKS: Final = "otel_parents_"
"""The prefix of the attributes with the parents of an export's other internal spans."""

_ENCODER: Final = msgspec.json.Encoder()
_PIECE: Final = 8000
MAX_PIECES: Final = 32
"""The limit of pieces of a span's JSON, of 8000 characters each. Of a longer span, only the step is stored."""


def as_attributes(span: Span) -> dict[str, str]:
    """The span in attributes of a step: JSON in pieces; empty for a span that is too long.

    The batch of the step is redacted later, when a secret in two pieces would not be found any more.
    """
    facts = [span.name, span.scope, span.service, span.start_ns, span.end_ns, span.client, span.failed]
    text = _as_json([*facts, span.message[:MAX_TEXT], span.address, span.all_attributes])
    if len(text) > _PIECE:
        text = redact(text.encode()).decode()
    return _in_pieces(STORED, text)


def parents_as_attributes(internals: Iterable[Span]) -> dict[str, str]:
    """The parents of internal spans by span id, in attributes of a step: JSON in pieces; empty if it is too long."""
    parents = {span.span_id: span.parent_id for span in internals}
    return _in_pieces(LINKS, _as_json(parents))


def internals_of(step: Step) -> list[Span]:
    """The internal spans whose parents are attributes of a step. They have ids, and the scope of the step's span."""
    carrier = span_of(step)
    try:
        parents = json.loads(_joined(LINKS, step) or "{}")
    except (ValueError, RecursionError):
        return []
    if carrier is None or not isinstance(parents, dict):
        return []
    return [
        replace(carrier, span_id=str(span_id), parent_id=str(parent_id), attributes={}, content=NOTHING)
        for span_id, parent_id in parents.items()
    ]


def span_of(step: Step) -> Span | None:
    """The span of a step; None without a readable span."""
    text = _joined(STORED, step)
    if not text:
        return None
    try:
        name, scope, service, start_ns, end_ns, client, failed, message, address, attributes = json.loads(text)
        times = int(start_ns), int(end_ns)
    except (TypeError, ValueError, RecursionError):
        return None
    known, content = with_content(_known(attributes), {})
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
        attributes=known,
        address=str(address),
        content=content,
    )


def _as_json(value: object) -> str:
    try:
        return _ENCODER.encode(value).decode()
    except OverflowError:  # integers beyond 64 bits, which only the standard library can write
        return json.dumps(value, separators=(",", ":"))


def _in_pieces(prefix: str, text: str) -> dict[str, str]:
    if len(text) <= _PIECE:
        return {f"{prefix}0": text}
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return {f"{prefix}{number}": piece for number, piece in enumerate(pieces)} if len(pieces) <= MAX_PIECES else {}


def _joined(prefix: str, step: Step) -> str:
    """The text in the pieces with a prefix; "" without any."""
    names = takewhile(step.additional_attributes.__contains__, (f"{prefix}{number}" for number in count()))
    return "".join(step.additional_attributes[name] for name in names)


def _known(written: object) -> dict[str, AttributeValue]:
    if not isinstance(written, dict):
        return {}
    return {name: value for name, value in written.items() if isinstance(value, str | bool | int | float)}
