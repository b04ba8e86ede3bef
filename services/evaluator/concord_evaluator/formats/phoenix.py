"""Phoenix's exports: spans of OpenInference, from its API, or as rows of a data frame."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

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


class _Context(BaseModel):
    trace_id: str = Field(min_length=1)
    span_id: str = Field(min_length=1)


class _Event(BaseModel):
    name: str
    attributes: dict[str, JsonValue] = {}


class _PhoenixSpan(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    context: _Context
    span_kind: str
    parent_id: str | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    status_code: str | None = None
    status_message: str | None = None
    attributes: dict[str, JsonValue] = {}
    events: list[_Event] = []

    @model_validator(mode="before")
    @classmethod
    def _nested(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic passes any value
        """A row of a data frame has columns `context.span_id` and `attributes.…`."""
        if not isinstance(data, dict) or "context.span_id" not in data:
            return data
        rows = {key: value for key, value in data.items() if value is not None}
        nested = {
            outer: {key.removeprefix(f"{outer}."): value for key, value in rows.items() if key.startswith(f"{outer}.")}
            for outer in ("context", "attributes")
        }
        return {**{key: value for key, value in rows.items() if "." not in key}, **nested}


def _recognises(head: Head) -> bool:
    keys = head.json_keys
    if keys >= {"context", "name"} or "context.span_id" in keys:
        return "span_kind" in keys
    return "span_kind" in head.listed("data")


def _spans_in(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    found = listed(value, "data")
    return [value] if found is None else found


def _read(written: JsonValue) -> Span:
    found = _PhoenixSpan.model_validate(written)
    thrown = next((event.attributes for event in found.events if event.name == "exception"), {})
    kept, content = known_attributes({**thrown, **found.attributes, "openinference.span.kind": found.span_kind})
    return Span(
        trace_id=hex_id(found.context.trace_id, TRACE_ID_BYTES),
        span_id=hex_id(found.context.span_id, SPAN_ID_BYTES),
        parent_id=hex_id(found.parent_id, SPAN_ID_BYTES),
        name=found.name,
        scope="phoenix",
        service="",
        start_ns=nanoseconds(found.start_time),
        end_ns=nanoseconds(found.end_time),
        client=False,
        failed=found.status_code == "ERROR",
        message=found.status_message or "",
        attributes=kept,
        content=content,
    )


FORMAT = Store(
    "Phoenix's spans (`name`, `context`, `span_kind`, `start_time`), one per line or under `data`", _spans_in, _read
).format(_recognises)
