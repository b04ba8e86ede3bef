"""Logfire's records, as its query API returns them in rows or columns: spans of OpenTelemetry with its attributes.

Source of the form: Logfire's documentation, "SQL Explorer" (table `records`) and "Query API".
"""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

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
    parsed,
)

_NOT_SPANS = ("pending_span", "log", "span_event")
"""Kinds of records beside spans: what a span was when it began, and points in time."""


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore")

    event_name: str = ""
    attributes: dict[str, JsonValue] = {}


class _Record(BaseModel):
    """A record. A database's JSON stands in it as text or as a value."""

    model_config = ConfigDict(extra="ignore")

    trace_id: str = Field(min_length=1)
    span_id: str = Field(min_length=1)
    parent_span_id: str | None = None
    span_name: str
    start_timestamp: datetime
    end_timestamp: datetime | None = None
    kind: str = "span"
    is_exception: bool | None = None
    exception_type: str | None = None
    exception_message: str | None = None
    otel_status_code: str | None = None
    otel_status_message: str | None = None
    otel_scope_name: str | None = None
    service_name: str | None = None
    service_version: str | None = None
    attributes: Annotated[dict[str, JsonValue] | None, BeforeValidator(parsed)] = None
    otel_events: Annotated[list[_Event] | None, BeforeValidator(parsed)] = None


def _recognises(head: Head) -> bool:
    keys = {"span_id", "span_name", "start_timestamp"}
    if head.first.keys() >= keys or head.listed("rows").keys() >= keys:
        return True
    columns = head.first.get("columns")
    named = columns if isinstance(columns, list) else []
    return keys <= {str(each.get("name")) for each in named if isinstance(each, dict)}


def _spans_in(value: JsonValue) -> list[JsonValue]:
    """The records in a value: the rows or the columns of an answer, or itself. Those that are no spans are left out."""
    rows = listed(value, "rows")
    if rows is None:
        columns = listed(value, "columns")
        rows = [value] if columns is None else _rows_of(columns)
    return [row for row in rows if not (isinstance(row, dict) and row.get("kind") in _NOT_SPANS)]


def _rows_of(columns: list[JsonValue]) -> list[JsonValue]:
    names = [str(each.get("name")) for each in columns if isinstance(each, dict)]
    values = [listed(each, "values") or [] for each in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _read(written: JsonValue) -> Span:
    found = _Record.model_validate(written)
    thrown: dict[str, JsonValue] = {
        "exception.type": found.exception_type,
        "exception.message": found.exception_message,
    }
    known = {name: value for name, value in thrown.items() if value} | (found.attributes or {})
    kept, content = known_attributes(known, [(each.event_name, each.attributes) for each in found.otel_events or ()])
    return Span(
        trace_id=hex_id(found.trace_id, TRACE_ID_BYTES),
        span_id=hex_id(found.span_id, SPAN_ID_BYTES),
        parent_id=hex_id(found.parent_span_id, SPAN_ID_BYTES),
        name=found.span_name,
        scope=found.otel_scope_name or "",
        service=found.service_name or "",
        version=found.service_version or "",
        start_ns=nanoseconds(found.start_timestamp),
        end_ns=nanoseconds(found.end_timestamp),
        client=False,
        failed=found.otel_status_code == "ERROR" or bool(found.is_exception),
        message=found.otel_status_message or found.exception_message or "",
        attributes=kept,
        content=content,
    )


FORMAT = Store(
    "Logfire's records (`trace_id`, `span_id`, `span_name`, `start_timestamp`), alone, in `rows` or in `columns`",
    _spans_in,
    _read,
).format(_recognises)
