"""LangSmith's runs, as its API and its SDK write them. A run becomes the span that langsmith exports by OTLP.

Source of the form: github.com/langchain-ai/langsmith-sdk, `python/langsmith/schemas.py`, `Run`.
"""

from collections.abc import Iterator
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord.trace.otlp import Span
from concord_evaluator.formats.source import Head
from concord_evaluator.formats.trace_stores import (
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    Store,
    hex_id,
    known_attributes,
    listed,
    nanoseconds,
)


class _Extra(BaseModel):
    metadata: dict[str, JsonValue] | None = None


class _Run(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    trace_id: str = Field(min_length=1)
    parent_run_id: str | None = None
    name: str = ""
    run_type: str
    start_time: datetime
    end_time: datetime | None = None
    error: str | None = None
    inputs: JsonValue = None
    outputs: JsonValue = None
    extra: _Extra | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def metadata(self) -> dict[str, JsonValue]:
        return (self.extra.metadata if self.extra is not None else None) or {}


def _recognises(head: Head) -> bool:
    run = head.listed("runs") or head.first
    return run.keys() >= {"id", "run_type", "trace_id"}


def _spans_in(value: JsonValue) -> list[JsonValue]:
    """The runs in a value: under `runs`, or itself with the runs below it in `child_runs`."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    runs = listed(value, "runs")
    return [found for run in ([value] if runs is None else runs) for found in _with_children(run)]


def _with_children(run: JsonValue) -> Iterator[JsonValue]:
    pending = [run]
    while pending:
        each = pending.pop()
        yield each
        pending.extend(reversed(listed(each, "child_runs") or []))


def _read(written: JsonValue) -> Span:
    found = _Run.model_validate(written)
    attributes: dict[str, JsonValue] = {
        "langsmith.span.kind": found.run_type,
        "gen_ai.prompt": found.inputs,
        "gen_ai.completion": found.outputs,
        "gen_ai.usage.input_tokens": found.prompt_tokens,
        "gen_ai.usage.output_tokens": found.completion_tokens,
        "gen_ai.request.model": found.metadata.get("ls_model_name"),
        "gen_ai.tool.name": found.name if found.run_type == "tool" else None,
        "exception.message": found.error,
        **{f"langsmith.metadata.{name}": _text(value) for name, value in found.metadata.items()},
    }
    kept, content = known_attributes({name: value for name, value in attributes.items() if value is not None})
    return Span(
        trace_id=hex_id(found.trace_id.replace("-", ""), TRACE_ID_BYTES),
        span_id=hex_id(found.id, SPAN_ID_BYTES),
        parent_id=hex_id(found.parent_run_id, SPAN_ID_BYTES),
        name=found.name,
        scope="langsmith",
        service="",
        start_ns=nanoseconds(found.start_time),
        end_ns=nanoseconds(found.end_time),
        client=False,
        failed=found.error is not None,
        message=found.error or "",
        attributes=kept,
        content=content,
    )


def _text(value: JsonValue) -> JsonValue:
    """A value of the metadata as langsmith exports it: numbers as text, and objects as they are."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


FORMAT = Store("LangSmith's runs (`id`, `trace_id`, `run_type`, `start_time`)", _spans_in, _read).format(_recognises)
