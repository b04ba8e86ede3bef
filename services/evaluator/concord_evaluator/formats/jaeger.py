"""Jaeger's JSON: traces with spans and processes, as its API, its page and its files have them.

Source of the form: github.com/jaegertracing/jaeger, `internal/uimodel/model.go`. Spans of OpenTelemetry have their
status, kind and scope as tags (OpenTelemetry's specification, "OpenTelemetry to Jaeger Transformation").
"""

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
)


class _Tag(BaseModel):
    key: str
    value: JsonValue = None


class _Reference(BaseModel):
    ref_type: str = Field(alias="refType", default="CHILD_OF")
    span_id: str = Field(alias="spanID")


class _Log(BaseModel):
    fields: list[_Tag] = []


class _Process(BaseModel):
    service_name: str = Field(alias="serviceName", default="")
    tags: list[_Tag] = []


class _JaegerSpan(BaseModel):
    """A span with its process beside it. Times in microseconds."""

    model_config = ConfigDict(extra="ignore")

    trace_id: str = Field(alias="traceID", min_length=1)
    span_id: str = Field(alias="spanID", min_length=1)
    parent_span_id: str | None = Field(alias="parentSpanID", default=None)
    operation_name: str = Field(alias="operationName")
    references: list[_Reference] = []
    start_time: int = Field(alias="startTime", default=0)
    duration: int = 0
    tags: list[_Tag] = []
    logs: list[_Log] = []
    process: _Process = _Process()

    @property
    def parent(self) -> str | None:
        children = (each.span_id for each in self.references if each.ref_type == "CHILD_OF")
        return next(children, self.parent_span_id)


def _recognises(head: Head) -> bool:
    trace = head.listed("data") or head.first
    return trace.keys() >= {"traceID", "spans"}


def _spans_in(value: JsonValue) -> list[JsonValue]:
    """The spans of one trace, or of the traces in `data`, each with its process."""
    traces = listed(value, "data")
    found: list[JsonValue] = []
    for trace in [value] if traces is None else traces:
        spans = listed(trace, "spans")
        if spans is None or not isinstance(trace, dict):
            raise ValueError("no `spans`")
        processes = trace.get("processes")
        named = processes if isinstance(processes, dict) else {}
        for span in spans:
            if isinstance(span, dict) and (process := named.get(str(span.get("processID")))) is not None:
                span = {"process": process, **span}
            found.append(span)
    return found


def _read(written: JsonValue) -> Span:
    found = _JaegerSpan.model_validate(written)
    tags = _plain(found.tags)
    events = [(str(fields.pop("event", "")), fields) for log in found.logs if (fields := _plain(log.fields))]
    thrown = next((fields for name, fields in events if name == "exception"), {})
    failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
    kept, content = known_attributes({**thrown, **tags}, events)
    return Span(
        trace_id=hex_id(found.trace_id.zfill(2 * TRACE_ID_BYTES), TRACE_ID_BYTES),
        span_id=hex_id(found.span_id.zfill(2 * SPAN_ID_BYTES), SPAN_ID_BYTES),
        parent_id=hex_id((found.parent or "").zfill(2 * SPAN_ID_BYTES), SPAN_ID_BYTES) if found.parent else "",
        name=found.operation_name,
        scope=str(tags.get("otel.scope.name") or tags.get("otel.library.name") or ""),
        service=found.process.service_name,
        version=str(_plain(found.process.tags).get("service.version") or ""),
        start_ns=found.start_time * 1000,
        end_ns=(found.start_time + found.duration) * 1000,
        client=tags.get("span.kind") == "client",
        failed=failed,
        message=str(tags.get("otel.status_description") or ""),
        attributes=kept,
        content=content,
    )


def _plain(tags: list[_Tag]) -> dict[str, JsonValue]:
    return {tag.key: tag.value for tag in tags}


FORMAT = Store("Jaeger's traces (`data`, or one trace): `traceID`, `spans`, `processes`", _spans_in, _read).format(
    _recognises
)
