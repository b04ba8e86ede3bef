"""Concord JSONL: each line is a JSON object, either a report, a batch of reports, or facts of a trace."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Final

import msgspec
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord.assessment import Fraction
from concord.trace.decoding import read
from concord.trace.report import Channel, ReportBatch, StepBatch, unpack
from concord.trace.step import InteractionStep
from concord.trace.stored_step import TraceBatch, decoded_usual
from concord.wire.roster import Id, RosterEntry
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Reported(_Line):
    """The source of steps: reporter, channel, and whether the reporter was authenticated."""

    reporter: Id
    channel: Channel = Channel.HTTP
    authenticated: bool = False


class ReportLine(_Reported):
    """One step."""

    step: InteractionStep


class BatchLine(StepBatch, _Reported):
    """Steps of one trace by one reporter, in the form of `POST /traces`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _UsualLine(TraceBatch, forbid_unknown_fields=True, kw_only=True, gc=False):
    """A `BatchLine` of the usual form."""

    channel: Channel = Channel.HTTP
    authenticated: bool = False


class TraceFacts(_Line):
    """Facts of a trace beside its steps: its agents, their task and answer, and the success of the task."""

    trace_id: Id
    roster: list[RosterEntry] = []
    task: Annotated[str, Field(max_length=100_000)] = ""
    answer: Annotated[str, Field(max_length=1_000_000)] = ""
    task_success: Fraction | None = None


class TraceLine(_Line):
    """Facts of a trace, anywhere in the file. The last ones override earlier ones."""

    trace: TraceFacts


def _recognises(head: Head) -> bool:
    keys = head.json_keys
    facts = head.first.get("trace")
    if keys == {"trace"}:
        return isinstance(facts, dict) and "resourceSpans" not in facts
    return ("reporter" in keys and bool(keys & {"step", "steps"})) or keys == {"step"}


def _read(source: Source) -> Iterator[Trace]:
    """Yields all traces at the end, since their reports may be anywhere in the file."""
    builders: dict[str, TraceBuilder] = {}
    for line, value in source.json_values_or(_usual_line):
        with source.record(line):
            parsed = value if isinstance(value, _UsualLine) else _parsed(value)
            trace_id = _trace_id(parsed)
            builder = builders.get(trace_id)
            if builder is None:
                builder = builders[trace_id] = TraceBuilder(trace_id, Origin(source.name, line))
                builder.imported = False
            _take(builder, parsed)
    return all_built(builders.values(), source)


_DECODER: Final = msgspec.json.Decoder(_UsualLine)


def _usual_line(text: bytes) -> _UsualLine | None:
    """The batch in a line of the usual form; None leaves it to the models."""
    batch = decoded_usual(_DECODER, text)
    return None if batch is None or any(step.trace_id != batch.trace_id for step in batch.steps) else batch


_AnyLine = ReportLine | BatchLine | TraceLine | _UsualLine


def _parsed(value: JsonValue) -> ReportLine | BatchLine | TraceLine:
    keys = frozenset(value) if isinstance(value, dict) else frozenset()
    if "step" in keys:
        return ReportLine.model_validate(value)
    if "steps" in keys:
        return _of_one_trace(BatchLine.model_validate(value))
    if "trace" in keys:
        return TraceLine.model_validate(value)
    raise ValueError("expected a report (`step`), a batch (`steps`) or facts of a trace (`trace`)")


def _of_one_trace(batch: BatchLine) -> BatchLine:
    for index, step in enumerate(batch.steps):
        if step.trace_id != batch.trace_id:
            raise ValueError(f"steps[{index}].trace_id: belongs to trace {step.trace_id}, not {batch.trace_id}")
    return batch


def _trace_id(line: _AnyLine) -> str:
    if isinstance(line, ReportLine):
        return line.step.trace_id
    return line.trace.trace_id if isinstance(line, TraceLine) else line.trace_id


def _take(builder: TraceBuilder, line: _AnyLine) -> None:
    if isinstance(line, TraceLine):
        for entry in line.trace.roster:
            builder.declare(entry)
        builder.task, builder.answer = line.trace.task, line.trace.answer
        builder.task_success = line.trace.task_success
        return
    steps = [line.step] if isinstance(line, ReportLine) else line.steps
    for step in steps:
        builder.add(step, line.reporter, channel=line.channel, authenticated=line.authenticated)
    if not isinstance(line, ReportLine) and line.dropped:
        builder.drop(line.reporter, sum(line.dropped.values()))


def as_lines(facts: TraceFacts, batches: Iterable[ReportBatch]) -> Iterator[str]:
    """A stored trace in this format: a line with its facts, then a line for each batch."""
    yield TraceLine(trace=facts).model_dump_json(exclude_defaults=True)
    for batch in batches:
        fields = msgspec.to_builtins(read(unpack(batch.body)))
        by = {"reporter": batch.reporter, "channel": batch.channel, "authenticated": batch.authenticated}
        # The reporter comes first, because the steps may be longer than what the format is recognised by.
        yield json.dumps({**by, "steps": [], **fields, **by})


FORMAT = TraceFormat(_recognises, _read)
