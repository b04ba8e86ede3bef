"""OTLP/JSON: the spans of an export, with ids in hex (or base64) and 64-bit integers as strings."""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from sys import intern
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from concord.trace.otlp.attribute import Attributes
from concord.trace.otlp.content import Event, with_content
from concord.trace.otlp.genai import SERVICE_NAME, SERVICE_VERSION, URL, AttributeValue
from concord.trace.otlp.json_structs import (
    FastEvent,
    FastExport,
    FastKeyValue,
    FastLink,
    FastSpan,
    FastValue,
    converted,
    decoded,
    whole,
)
from concord.trace.otlp.spans import Span, destination

_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8
_ERROR_CODES: Final = frozenset({2, "2", "STATUS_CODE_ERROR"})
_CLIENT_KINDS: Final = frozenset({3, "3", "SPAN_KIND_CLIENT"})


class OtlpMessage(BaseModel):
    """An OTLP/JSON message. As in all protobuf JSON, null means absent."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class Value(OtlpMessage):
    """A value of an attribute or a body."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | None = None
    double_value: float | None = None
    array_value: "_Values | None" = None
    kvlist_value: "_KeyValues | None" = None
    bytes_value: str | None = None

    def plain(self) -> JsonValue:
        """The value in plain JSON."""
        if self.array_value is not None:
            return [value.plain() for value in self.array_value.values or ()]
        if self.kvlist_value is not None:
            return {each.key: each.plain() for each in self.kvlist_value.values or ()}
        scalars = (self.string_value, self.bool_value, self.int_value, self.double_value, self.bytes_value)
        return next((value for value in scalars if value is not None), None)


class _Values(OtlpMessage):
    values: list[Value] | None = None


class KeyValue(OtlpMessage):
    """An attribute."""

    key: str = ""
    value: Value | None = None

    def plain(self) -> JsonValue:
        """Its value in plain JSON."""
        return None if self.value is None else self.value.plain()


class _KeyValues(OtlpMessage):
    values: list[KeyValue] | None = None


class _Status(OtlpMessage):
    code: int | str | None = None
    message: str | None = None


class _Event(OtlpMessage):
    name: str | None = None
    attributes: list[KeyValue] | None = None


class _Link(OtlpMessage):
    trace_id: str | None = None
    span_id: str | None = None


class _Span(OtlpMessage):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int | None = None
    end_time_unix_nano: int | None = None
    attributes: list[KeyValue] | None = None
    events: list[_Event] | None = None
    links: list[_Link] | None = None
    status: _Status | None = None


class _Scope(OtlpMessage):
    name: str | None = None


class _ScopeSpans(OtlpMessage):
    scope: _Scope | None = None
    spans: list[_Span] | None = None


class _Resource(OtlpMessage):
    attributes: list[KeyValue] | None = None


class _ResourceSpans(OtlpMessage):
    resource: _Resource | None = None
    scope_spans: list[_ScopeSpans] | None = None


class _Export(OtlpMessage):
    resource_spans: list[_ResourceSpans] | None = None


def read_json(body: bytes) -> Sequence[Span]:
    """The spans of an `ExportTraceServiceRequest` in JSON, in order. Raises ValueError."""
    found = read_usual(body)
    return list(_spans(_Export.model_validate_json(body))) if found is None else found


def read_usual(body: bytes) -> tuple[Span, ...] | None:
    """The same for an export of the usual form; None for anything else, also for JSON without any spans."""
    with suppress(ValueError, RecursionError):
        export = decoded(body)
        return None if export.resource_spans is None else tuple(_spans(export))
    return None


def spans_in(document: JsonValue) -> Iterator[Span]:
    """The spans of parsed JSON."""
    try:
        found = list(_spans(converted(document)))
    except (ValueError, RecursionError):
        return _spans(_Export.model_validate(document))
    return iter(found)


def as_export(spans: Sequence[Span]) -> dict[str, JsonValue]:
    """An `ExportTraceServiceRequest` with these spans, which `spans_in` reads as they are."""
    groups: dict[tuple[str, str, str], list[JsonValue]] = {}
    for span in spans:
        groups.setdefault((span.service, span.version, span.scope), []).append(_written(span))
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _resource(service, version)},
                "scopeSpans": [{"scope": {"name": scope}, "spans": written}],
            }
            for (service, version, scope), written in groups.items()
        ]
    }


def _resource(service: str, version: str) -> list[JsonValue]:
    facts = {SERVICE_NAME[0]: service, SERVICE_VERSION[0]: version}
    return [_attribute(name, value) for name, value in facts.items() if value]


def _written(span: Span) -> JsonValue:
    attributes = {**span.all_attributes, **({URL[0]: span.address} if span.address else {})}
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "kind": 3 if span.client else 1,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "status": {"code": 2 if span.failed else 0, "message": span.message},
        "attributes": [_attribute(name, value) for name, value in attributes.items()],
    }


def _attribute(name: str, value: AttributeValue) -> JsonValue:
    if isinstance(value, bool):
        return {"key": name, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}}


_AnyValue = Value | FastValue | None
_AnyPair = KeyValue | FastKeyValue


def _spans(export: _Export | FastExport) -> Iterator[Span]:
    for group in export.resource_spans or ():
        facts = () if group.resource is None else group.resource.attributes or ()
        service, version = _fact(facts, SERVICE_NAME), _fact(facts, SERVICE_VERSION)
        for scoped in group.scope_spans or ():
            scope = "" if scoped.scope is None else scoped.scope.name or ""
            for span in scoped.spans or ():
                yield _read(span, scope, service, version)


def _fact(attributes: Iterable[_AnyPair], names: Iterable[str]) -> str:
    return next((str(_plain(each.value)) for each in attributes if each.key in names), "")


def _read(span: _Span | FastSpan, scope: str, service: str, version: str) -> Span:
    status, client = span.status, span.kind in _CLIENT_KINDS
    read = Attributes()
    events = span.events or ()
    thrown = next((event for event in events if event.name == "exception"), None)
    if thrown is not None:
        read.read_kept(_pairs(thrown.attributes or ()))
    read.read(_pairs(span.attributes or ()))
    attributes, content = with_content(read.kept, read.told, tuple(_events(events)) if events else ())
    return Span(
        intern(hex_id(span.trace_id, _TRACE_ID_BYTES)),
        hex_id(span.span_id, _SPAN_ID_BYTES),
        hex_id(span.parent_span_id, _SPAN_ID_BYTES),
        span.name or "",
        scope,
        service,
        whole(span.start_time_unix_nano),
        whole(span.end_time_unix_nano),
        client,
        status is not None and status.code in _ERROR_CODES,
        "" if status is None else status.message or "",
        attributes,
        destination(read.address) if client else "",
        version,
        content,
        () if span.parent_span_id or not span.links else tuple(map(_linked, span.links)),
    )


def _linked(link: _Link | FastLink) -> tuple[str, str]:
    return hex_id(link.trace_id, _TRACE_ID_BYTES), hex_id(link.span_id, _SPAN_ID_BYTES)


def hex_id(written: str | None, size: int) -> str:
    """An id in lower-case hex. Protobuf's own JSON form, which some exporters write, has base64."""
    text = written or ""
    if len(text) == 2 * size:
        return text.lower()
    if len(text) == (size + 2) // 3 * 4:
        with suppress(ValueError):
            return b64decode(text, validate=True).hex()
    return text.lower()


def _events(events: Iterable["_Event | FastEvent"]) -> Iterator[Event]:
    for event in events:
        if event.name and event.name.startswith("gen_ai."):
            yield event.name, {each.key: _plain(each.value) for each in event.attributes or ()}


def _pairs(attributes: Iterable[_AnyPair]) -> list[tuple[str, JsonValue]]:
    return [
        (
            each.key,
            None
            if (value := each.value) is None
            else value.plain()
            if (text := value.string_value) is None or value.array_value is not None or value.kvlist_value is not None
            else text,
        )
        for each in attributes
    ]


def _plain(value: _AnyValue) -> JsonValue:
    return None if value is None else value.plain()
