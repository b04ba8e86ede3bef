"""What a batch holds: its steps, the parents that they name and, if it is an export of OpenTelemetry, its spans."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

from concord.trace.otlp.span_batch import read_spans, steps_of
from concord.trace.otlp.spans import Span
from concord.trace.otlp.stored_span import STORED, internals_of, span_of
from concord.trace.report import Report, ReportBatch, pack, unpack
from concord.trace.stored_step import Step, TraceBatch, read_steps, written


def read(body: bytes) -> TraceBatch:
    """The steps of a batch of steps or of spans. Raises pydantic's ValidationError."""
    exported = read_spans(body)
    return read_steps(body) if exported is None else steps_of(exported)


def spans_in(body: bytes) -> Sequence[Span]:
    """The spans of a batch of spans, or of steps that all have their spans beside them; none of any other batch."""
    if (exported := read_spans(body)) is not None:
        return [*exported.spans, *exported.internals]
    if STORED.encode() not in body:
        return ()
    steps = read(body).steps
    spans = [span for step in steps if (span := span_of(step)) is not None]
    return [*spans, *(span for step in steps for span in internals_of(step))] if len(spans) == len(steps) else ()


@dataclass(frozen=True, slots=True)
class ReadBatch(ReportBatch):
    """A batch whose steps are in memory, none with steps in its answer.

    Its body is made when somebody asks for it, as another process does.
    """

    body: bytes = field(init=False)
    steps: Sequence[Step] = field(kw_only=True)

    def __getattr__(self, name: str) -> bytes:
        if name != "body":
            raise AttributeError(name)
        body = pack(written(TraceBatch(self.batch_id, self.trace_id, self.reporter, [*self.steps])))
        object.__setattr__(self, name, body)
        return body

    def __reduce__(self) -> tuple[type[ReportBatch], tuple[object, ...]]:
        return ReportBatch, tuple(getattr(self, each.name) for each in fields(ReportBatch))


def steps_of_batch(batch: ReportBatch) -> Sequence[Step]:
    """The steps of a batch. Raises zlib.error or pydantic's ValidationError for a malformed body."""
    return batch.steps if isinstance(batch, ReadBatch) else read(unpack(batch.body)).steps


def reports_of(batch: ReportBatch) -> Iterator[Report]:
    """The reports of a batch, decoded lazily to limit memory.

    Raises zlib.error or pydantic's ValidationError for a malformed body.
    """
    for step in steps_of_batch(batch):
        yield Report(step, batch.reporter, batch.authenticated, batch.channel, batch.received_at)


@dataclass(frozen=True, slots=True)
class StoredReports:
    """The reports of stored batches, decoded anew in each iteration to limit memory.

    An iteration raises zlib.error or pydantic's ValidationError for a malformed body.
    """

    batches: Sequence[ReportBatch]

    def __iter__(self) -> Iterator[Report]:
        return (report for batch in self.batches for report in reports_of(batch))


def parents_in(body: bytes) -> set[str]:
    """The ids of the parents of all steps and spans in a batch, as it is stored. Raises ValueError."""
    exported = read_spans(body)
    if exported is None:
        return {step.parent_step_id for step in read_steps(body).steps if step.parent_step_id}
    return {span.parent_id for span in (*exported.spans, *exported.internals) if span.parent_id}
