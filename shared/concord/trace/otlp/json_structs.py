"""OTLP/JSON as structs: the fields that are read, of traces and logs. All other fields are ignored."""

from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Final, TypeVar

import msgspec
from pydantic import JsonValue
from pydantic.alias_generators import to_camel

_SNAKE_CASE: Final = b'_spans"'
"""In a body only as the end of a key in snake case: within a text, the quotation mark would be escaped."""


class OtlpStruct(msgspec.Struct, rename="camel", gc=False):
    """A message of OTLP in JSON. As in all protobuf JSON, null means absent."""


class Value(OtlpStruct):
    """A value of an attribute or a body."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | None = None
    array_value: "_Values | None" = None
    kvlist_value: "_KeyValues | None" = None
    bytes_value: str | None = None

    def plain(self) -> JsonValue:
        """The value in plain JSON. Raises ValueError for an integer that is none."""
        if self.array_value is not None:
            return [value.plain() for value in self.array_value.values or ()]
        if self.kvlist_value is not None:
            return {each.key: each.plain() for each in self.kvlist_value.values or ()}
        if self.string_value is not None:
            return self.string_value
        number = None if self.int_value is None else whole(self.int_value, "intValue")
        scalars = (self.bool_value, number, self.double_value, self.bytes_value)
        return next((value for value in scalars if value is not None), None)


class _Values(OtlpStruct):
    values: list[Value] | None = None


class KeyValue(OtlpStruct):
    """An attribute."""

    key: str = ""
    value: Value | None = None

    def plain(self) -> JsonValue:
        """Its value in plain JSON. Raises ValueError, with its name, for an integer that is none."""
        try:
            return None if self.value is None else self.value.plain()
        except ValueError as error:
            raise ValueError(f"{self.key}: {error}") from error


class _KeyValues(OtlpStruct):
    values: list[KeyValue] | None = None


class _Status(OtlpStruct):
    code: int | str | None = None
    message: str | None = None


class SpanEvent(OtlpStruct):
    """An event of a span."""

    name: str | None = None
    attributes: list[KeyValue] | None = None


class SpanLink(OtlpStruct):
    """A link of a span to another one."""

    trace_id: str | None = None
    span_id: str | None = None


class JsonSpan(OtlpStruct):
    """A span."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[KeyValue] | None = None
    events: list[SpanEvent] | None = None
    links: list[SpanLink] | None = None
    status: _Status | None = None


class _Scope(OtlpStruct):
    name: str | None = None


class _ScopeSpans(OtlpStruct):
    scope: _Scope | None = None
    spans: list[JsonSpan] | None = None


class _Resource(OtlpStruct):
    attributes: list[KeyValue] | None = None


class _ResourceSpans(OtlpStruct):
    resource: _Resource | None = None
    scope_spans: list[_ScopeSpans] | None = None


class SpansExport(OtlpStruct):
    """An `ExportTraceServiceRequest`."""

    resource_spans: list[_ResourceSpans] | None = None


class LogRecord(OtlpStruct):
    """A log record."""

    trace_id: str | None = None
    span_id: str | None = None
    event_name: str | None = None
    body: Value | None = None
    attributes: list[KeyValue] | None = None


class _ScopeLogs(OtlpStruct):
    log_records: list[LogRecord] | None = None


class _ResourceLogs(OtlpStruct):
    scope_logs: list[_ScopeLogs] | None = None


class LogsExport(OtlpStruct):
    """An `ExportLogsServiceRequest`."""

    resource_logs: list[_ResourceLogs] | None = None


_MAX_DIGITS: Final = 20
"""Those of the largest integer of 64 bits."""

_DECODER: Final = msgspec.json.Decoder(SpansExport)
_Struct = TypeVar("_Struct", bound=OtlpStruct)


def decoded(body: bytes) -> SpansExport:
    """The export in a body. Raises ValueError for one that `converted` may read: in snake case, or with odd scalars."""
    if _SNAKE_CASE in body:
        raise ValueError("the names of fields are in snake case")
    return _DECODER.decode(body)


def converted(document: JsonValue, kind: type[_Struct]) -> _Struct:
    """The message in parsed JSON: fields in either case or by former names, scalars as texts too. Raises ValueError."""
    return msgspec.convert(_in_camel_case(document), kind, strict=False)


def whole(number: int | str | None, field: str) -> int:
    """An integer, also as a text, as OTLP/JSON writes those of 64 bits, also `7.0` or `7e3`, as proto3 JSON may.

    0 if absent. Raises ValueError for any other text.
    """
    try:
        return int(number or 0)
    except ValueError as error:
        with suppress(InvalidOperation):
            known = Decimal(number or 0)
            if known.is_finite() and known.adjusted() < _MAX_DIGITS and known == known.to_integral_value():
                return int(known)
        raise ValueError(f"{field}: no integer: {number!r}") from error


_FORMER: Final = {
    "batches": "resourceSpans",
    "instrumentationLibrarySpans": "scopeSpans",
    "ilSpans": "scopeSpans",
    "instrumentationLibrary": "scope",
}
"""By Tempo's name, and by those of OTLP before version 1.0, the present one."""


def _named(key: str) -> str:
    name = to_camel(key) if "_" in key else key
    return _FORMER.get(name, name)


def _in_camel_case(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {_named(key): _in_camel_case(each) for key, each in value.items()}
    return [_in_camel_case(each) for each in value] if isinstance(value, list) else value
