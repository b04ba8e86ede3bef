"""Batches of spans: how the collector stores an export. Its spans become steps when somebody reads the batch.

A span alone does not tell which agent works in it. The evaluator therefore reads all spans of a participant together,
as it reads the spans in a file.
"""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from concord.trace.otlp.mapping import SpanError, to_step
from concord.trace.otlp.spans import Span
from concord.trace.otlp.stored_span import as_attributes, parents_as_attributes
from concord.trace.report import MAX_BATCH_STEPS
from concord.trace.stored_step import Step, TraceBatch

MAX_SPANS: Final = MAX_BATCH_STEPS - 1
"""The limit of visible spans of a batch. All its library internals become one step more."""

_Spans = Annotated[list[Span], Meta(max_length=MAX_SPANS)]


class SpanBatch(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Spans of one trace from one reporter.

    `internals`: those of library internals, the first as it came and the others with their ids alone. None becomes a
    step of its own, but their children may come in another export.
    """

    batch_id: str
    trace_id: str
    reporter: str
    spans: _Spans
    internals: list[Span] = []

    @property
    def n_steps(self) -> int:
        """How many steps the batch becomes."""
        return len(self.spans) + bool(self.internals)


_DECODER: Final = msgspec.json.Decoder(SpanBatch)
_ENCODER: Final = msgspec.json.Encoder()


def encoded_spans(batch: SpanBatch) -> bytes:
    """The batch as JSON, each span as the list of its fields."""
    return _ENCODER.encode(batch)


def read_spans(body: bytes) -> SpanBatch | None:
    """The batch of spans in a body; None if it is no such batch."""
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def steps_of(batch: SpanBatch) -> TraceBatch:
    """The steps of the spans, each with its span as attributes. A span that cannot be a step has none."""
    steps: list[Step] = []
    for span in batch.spans:
        with suppress(SpanError):
            steps.append(_step(span))
    if batch.internals:
        first, *others = batch.internals
        with suppress(SpanError):
            steps.append(_step(first, parents_as_attributes(others)))
    return TraceBatch(batch.batch_id, batch.trace_id, batch.reporter, steps)


def with_ids_alone(span: Span) -> Span:
    """The span with its ids and its scope alone."""
    return Span(span.trace_id, span.span_id, span.parent_id, "", span.scope, "", 0, 0, False, False, "", {})


def _step(span: Span, further: Mapping[str, str] = MappingProxyType({})) -> Step:
    """The step of a span, with the span itself and further attributes. Raises SpanError."""
    step = to_step(span, with_agent=True)
    step.additional_attributes.update(as_attributes(span))
    step.additional_attributes.update(further)
    return step
