"""CooperBench's runs: two coding agents, their messages with times, and whether the features of both passed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord_evaluator.formats.registry import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, file_trace_id

_EPOCH: Final = datetime.fromtimestamp(0, UTC)

_WARNINGS: Final = (
    "the log does not tell questions from answers: every message counts as a call of its receiver by its sender",
    "the log has the times of messages alone: latencies are unknown",
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Message(_Part):
    sender: str = Field(alias="from")
    receiver: str = Field(alias="to")
    message: str
    timestamp: float | None = None
    kind: str | None = None


class _Evaluation(_Part):
    both_passed: bool | None = None


class _Result(_Part):
    repo: str = ""
    task_id: int | str | None = None
    features: list[int | str] = []
    agents: dict[str, JsonValue] = {}


class _Run(_Part):
    path: str = ""
    conversation: list[_Message]
    eval: _Evaluation = _Evaluation()
    result: _Result = _Result()


def _recognises(head: Head) -> bool:
    return "conversation" in head.json_keys


def _read(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        with source.record(line):
            run = _Run.model_validate(value)
            builder = TraceBuilder(file_trace_id(source.name, number), Origin(source.name, line))
            _take(builder, run)
            yield builder.build()


def _take(builder: TraceBuilder, run: _Run) -> None:
    features = " and ".join(map(str, run.result.features))
    builder.task = f"{run.result.repo} {run.result.task_id}: features {features}" if run.result.repo else ""
    if run.eval.both_passed is not None:
        builder.task_success = float(run.eval.both_passed)
    for warning in _WARNINGS:
        builder.warn(warning)
    for agent in run.result.agents:
        builder.declare(agent)
    for number, message in enumerate(run.conversation, 1):
        sent_at = None if message.timestamp is None else _EPOCH + timedelta(seconds=message.timestamp)
        attributes = {"kind": message.kind} if message.kind else {}
        builder.add_message(
            f"{number:04}",
            message.sender,
            message.receiver,
            message.message,
            attributes=attributes,
            sent_at=sent_at,
        )


FORMAT = TraceFormat(_recognises, _read)
