"""OTLP/JSON: the spans of an export, with ids in hex (or base64) and 64-bit integers as strings."""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from sys import intern
from typing import Final

from pydantic import JsonValue
from pydantic_core import from_json

from concord.trace.otlp.attribute import Attributes
from concord.trace.otlp.content import Event, with_content
from concord.trace.otlp.genai import SERVICE_NAME, SERVICE_VERSION, URL, AttributeValue
from concord.trace.otlp.json_structs import (
    JsonSpan,
    KeyValue,
    SpanEvent,
    SpanLink,
    SpansExport,
    converted,
    decoded,
    whole,
)
from concord.trace.otlp.spans import Span, destination

_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8
_ERROR_CODES: Final = frozenset({2, "2", "STATUS_CODE_ERROR"})
_CLIENT_KINDS: Final = frozenset({3, "3", "SPAN_KIND_CLIENT"})


def read_json(body: bytes) -> Sequence[Span]:
    """The spans of an `ExportTraceServiceRequest` in JSON, in order. Raises ValueError."""
    found = read_usual(body)
    return list(spans_in(from_json(body))) if found is None else found


def read_usual(body: bytes) -> tuple[Span, ...] | None:
    """The same for an export of the usual form; None for anything else, also for JSON without any spans."""
    with suppress(ValueError, RecursionError):
        export = decoded(body)
        return None if export.resource_spans is None else tuple(_spans(export))
    return None


def spans_in(document: JsonValue) -> Iterator[Span]:
    """The spans of parsed JSON. Raises ValueError."""
    try:
        return iter(list(_spans(converted(document, SpansExport))))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


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


def _spans(export: SpansExport) -> Iterator[Span]:
    for at, group in enumerate(export.resource_spans or ()):
        facts = () if group.resource is None else group.resource.attributes or ()
        service, version = _fact(facts, SERVICE_NAME), _fact(facts, SERVICE_VERSION)
        for below, scoped in enumerate(group.scope_spans or ()):
            scope = "" if scoped.scope is None else scoped.scope.name or ""
            for number, span in enumerate(scoped.spans or ()):
                try:
                    yield _read(span, scope, service, version)
                except ValueError as error:
                    where = f"resourceSpans[{at}].scopeSpans[{below}].spans[{number}]"
                    raise ValueError(f"{where}: {error}") from error


def _fact(attributes: Iterable[KeyValue], names: Iterable[str]) -> str:
    return next((str(each.plain()) for each in attributes if each.key in names), "")


def _read(span: JsonSpan, scope: str, service: str, version: str) -> Span:
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
        intern(span.name or ""),
        scope,
        service,
        whole(span.start_time_unix_nano, "startTimeUnixNano"),
        whole(span.end_time_unix_nano, "endTimeUnixNano"),
        client,
        status is not None and status.code in _ERROR_CODES,
        "" if status is None else status.message or "",
        attributes,
        destination(read.address) if client else "",
        version,
        content,
        () if span.parent_span_id or not span.links else tuple(map(_linked, span.links)),
    )


def _linked(link: SpanLink) -> tuple[str, str]:
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


def _events(events: Iterable[SpanEvent]) -> Iterator[Event]:
    for event in events:
        if event.name and event.name.startswith("gen_ai."):
            yield event.name, {each.key: each.plain() for each in event.attributes or ()}


def _pairs(attributes: Iterable[KeyValue]) -> list[tuple[str, JsonValue]]:
    return [(each.key, each.plain()) for each in attributes]
