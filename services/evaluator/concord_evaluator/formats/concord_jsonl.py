"""Concord JSONL: one JSON object to a line, each a report, a batch of reports, or what is known of a trace."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord.assessment import Fraction
from concord.assessment.roster import RosterEntry
from concord.trace.report import Channel, ReportBatch, StepBatch, unpack
from concord.trace.step import Id, InteractionStep
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Telling(_Line):
    """How steps were told: by whom, over which channel, and whether that is certain."""

    reporter: Id
    channel: Channel = Channel.HTTP
    authenticated: bool = False


class ReportLine(_Telling):
    """One step."""

    step: InteractionStep


class BatchLine(StepBatch, _Telling):
    """Steps of one trace by one reporter, as `POST /traces` takes them."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TraceFacts(_Line):
    """What is known of a trace beside its steps: its agents, their task and answer, and how far that succeeded."""

    trace_id: Id
    roster: list[RosterEntry] = []
    task: Annotated[str, Field(max_length=100_000)] = ""
    answer: Annotated[str, Field(max_length=1_000_000)] = ""
    task_success: Fraction | None = None


class TraceLine(_Line):
    """Facts of a trace, anywhere in the file; the last ones told stand."""

    trace: TraceFacts


def _recognises(head: Head) -> bool:
    keys = head.json_keys
    return ("reporter" in keys and bool(keys & {"step", "steps"})) or keys in ({"trace"}, {"step"})


def _read(source: Source) -> Iterator[Trace]:
    """All traces at the end, since the reports of each may stand anywhere."""
    builders: dict[str, TraceBuilder] = {}
    for line, value in source.json_values():
        with source.record(line):
            parsed = _parsed(value)
            trace_id = _trace_id(parsed)
            builder = builders.get(trace_id)
            if builder is None:
                builder = builders[trace_id] = TraceBuilder(trace_id, Origin(source.name, line))
            _take(builder, parsed)
    return all_built(builders.values(), source)


def _parsed(value: JsonValue) -> ReportLine | BatchLine | TraceLine:
    keys = frozenset(value) if isinstance(value, dict) else frozenset()
    if "step" in keys:
        return ReportLine.model_validate(value)
    if "steps" in keys:
        return _of_one_trace(BatchLine.model_validate(value))
    if "trace" in keys:
        return TraceLine.model_validate(value)
    raise ValueError("neither a report (`step`), a batch (`steps`) nor facts of a trace (`trace`)")


def _of_one_trace(batch: BatchLine) -> BatchLine:
    for index, step in enumerate(batch.steps):
        if step.trace_id != batch.trace_id:
            raise ValueError(f"steps[{index}].trace_id: belongs to trace {step.trace_id}, not {batch.trace_id}")
    return batch


def _trace_id(line: ReportLine | BatchLine | TraceLine) -> str:
    if isinstance(line, ReportLine):
        return line.step.trace_id
    return line.trace_id if isinstance(line, BatchLine) else line.trace.trace_id


def _take(builder: TraceBuilder, line: ReportLine | BatchLine | TraceLine) -> None:
    if isinstance(line, TraceLine):
        for entry in line.trace.roster:
            builder.declare(entry)
        builder.task, builder.answer = line.trace.task, line.trace.answer
        builder.task_success = line.trace.task_success
        return
    steps = [line.step] if isinstance(line, ReportLine) else line.steps
    for step in steps:
        builder.add(step, line.reporter, channel=line.channel, authenticated=line.authenticated)
    if isinstance(line, BatchLine) and line.dropped:
        builder.drop(line.reporter, sum(line.dropped.values()))


def as_lines(facts: TraceFacts, batches: Iterable[ReportBatch]) -> Iterator[str]:
    """A trace as it is stored, in this format: its facts, then a line for each batch."""
    yield TraceLine(trace=facts).model_dump_json(exclude_defaults=True)
    for batch in batches:
        told = StepBatch.model_validate_json(unpack(batch.body)).model_dump(mode="json", exclude_unset=True)
        by = {"reporter": batch.reporter, "channel": batch.channel, "authenticated": batch.authenticated}
        # The reporter first: a line is known by its first KiB.
        yield json.dumps({**by, **told, **by})


FORMAT = TraceFormat(_recognises, _read)
