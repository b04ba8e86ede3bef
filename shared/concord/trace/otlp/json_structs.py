"""OTLP/JSON of the usual form as structs, which take a tenth of the time of the models in `json_form`.

They are stricter: only fields of OTLP in camelCase, no conversion, no deep nesting. The models decide about the rest.
"""

from typing import Any, Final

import msgspec
from pydantic import JsonValue

_MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 20


class _Struct(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    pass


class FastValue(_Struct):
    """A value of an attribute."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | None = None
    array_value: "_Values | None" = None
    kvlist_value: "_KeyValues | None" = None
    bytes_value: str | None = None

    def plain(self, depth: int = 0) -> JsonValue:
        """The value in plain JSON. Raises ValueError for one that the models have to read."""
        if self.array_value is None and self.kvlist_value is None:
            if self.string_value is not None:
                return self.string_value
            return self._scalar()
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        if self.array_value is not None:
            return [value.plain(depth + 1) for value in self.array_value.values or ()]
        pairs = (self.kvlist_value and self.kvlist_value.values) or ()
        return {each.key: None if each.value is None else each.value.plain(depth + 1) for each in pairs}

    def _scalar(self) -> JsonValue:
        number = None if self.int_value is None else whole(self.int_value)
        if self.bool_value is not None:
            return self.bool_value
        if number is not None:
            return number
        return self.bytes_value if self.double_value is None else self.double_value


class _Values(_Struct):
    values: list[FastValue] | None = None


class FastKeyValue(_Struct):
    """An attribute."""

    key: str = ""
    value: FastValue | None = None


class _KeyValues(_Struct):
    values: list[FastKeyValue] | None = None


class _Status(_Struct):
    code: int | str | None = None
    message: str | None = None


class FastEvent(_Struct):
    """An event of a span."""

    name: str | None = None
    attributes: list[FastKeyValue] | None = None
    time_unix_nano: Any = None
    dropped_attributes_count: Any = None


class FastLink(_Struct):
    """A link of a span to another one."""

    trace_id: str | None = None
    span_id: str | None = None
    trace_state: Any = None
    attributes: Any = None
    flags: Any = None
    dropped_attributes_count: Any = None


class FastSpan(_Struct):
    """A span. What has the type `Any` is not read."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[FastKeyValue] | None = None
    events: list[FastEvent] | None = None
    status: _Status | None = None
    trace_state: Any = None
    flags: Any = None
    links: list[FastLink] | None = None
    dropped_attributes_count: Any = None
    dropped_events_count: Any = None
    dropped_links_count: Any = None


class _Scope(_Struct):
    name: str | None = None
    version: Any = None
    attributes: Any = None
    dropped_attributes_count: Any = None


class _ScopeSpans(_Struct):
    scope: _Scope | None = None
    spans: list[FastSpan] | None = None
    schema_url: Any = None


class _Resource(_Struct):
    attributes: list[FastKeyValue] | None = None
    dropped_attributes_count: Any = None
    entity_refs: Any = None


class _ResourceSpans(_Struct):
    resource: _Resource | None = None
    scope_spans: list[_ScopeSpans] | None = None
    schema_url: Any = None


class FastExport(_Struct):
    """An `ExportTraceServiceRequest`."""

    resource_spans: list[_ResourceSpans] | None = None


_DECODER: Final = msgspec.json.Decoder(FastExport)


def decoded(body: bytes) -> FastExport:
    """The export in a body. Raises ValueError or RecursionError for one that the models have to read."""
    return _DECODER.decode(body)


def converted(document: JsonValue) -> FastExport:
    """The export in parsed JSON. Raises as `decoded`."""
    return msgspec.convert(document, FastExport)


def whole(number: int | str | None) -> int:
    """An integer, also as OTLP/JSON writes those of 64 bits; 0 if absent. Raises ValueError for any other text."""
    if isinstance(number, str):
        if len(number) <= _MAX_DIGITS and number.isdecimal() and number.isascii():
            return int(number)
        digits = number.removeprefix("-")
        if len(digits) > _MAX_DIGITS or not (digits.isascii() and digits.isdecimal()):
            raise ValueError("not a number in the usual form")
        return int(number)
    return number or 0
