"""OTLP/protobuf: the spans of an export. Needs `opentelemetry-proto`, which an agent's author does not install."""

from base64 import b64encode
from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from pydantic import JsonValue

from concord.trace.otlp.attribute import Attributes
from concord.trace.otlp.content import Event, with_content
from concord.trace.otlp.genai import SERVICE_NAME, SERVICE_VERSION
from concord.trace.otlp.spans import Span, destination

_CLIENT, _ERROR = ProtoSpan.SPAN_KIND_CLIENT, Status.STATUS_CODE_ERROR


def read_protobuf(body: bytes) -> Iterator[Span]:
    """The spans of an `ExportTraceServiceRequest`, in its order. Raises ValueError if the body is none."""
    try:
        export = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise ValueError("the body is not an ExportTraceServiceRequest") from error
    return _spans(export)


def _spans(export: ExportTraceServiceRequest) -> Iterator[Span]:
    for group in export.resource_spans:
        facts = group.resource.attributes
        service, version = _fact(facts, SERVICE_NAME), _fact(facts, SERVICE_VERSION)
        for scoped in group.scope_spans:
            scope = scoped.scope.name
            for span in scoped.spans:
                yield _span(span, scope, service, version)


def _fact(attributes: Iterable[KeyValue], names: Iterable[str]) -> str:
    return next((str(_plain(each.value)) for each in attributes if each.key in names), "")


def _span(span: ProtoSpan, scope: str, service: str, version: str) -> Span:
    client, status = span.kind == _CLIENT, span.status if span.HasField("status") else None
    read: Attributes[AnyValue] = Attributes(_plain)
    events = span.events
    for event in events:
        if event.name == "exception":
            read.read_kept(event.attributes)
            break
    read.read(span.attributes)
    attributes, content = with_content(read.kept, read.told, tuple(_events(events)) if events else ())
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        name=span.name,
        scope=scope,
        service=service,
        version=version,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        client=client,
        failed=status is not None and status.code == _ERROR,
        message="" if status is None else status.message,
        attributes=attributes,
        address=destination(read.address) if client else "",
        content=content,
    )


def _events(events: Iterable[ProtoSpan.Event]) -> Iterator[Event]:
    for event in events:
        if event.name.startswith("gen_ai."):
            yield event.name, {each.key: _plain(each.value) for each in event.attributes}


def _plain(value: AnyValue) -> JsonValue:
    """The value in plain JSON, bytes in base64 as OTLP/JSON has them."""
    if text := value.string_value:  # most are texts, and to ask for the kind takes as long again
        return text
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return ""
    if kind is None:
        return None
    if kind == "array_value":
        return [_plain(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return {each.key: _plain(each.value) for each in value.kvlist_value.values}
    if kind == "bytes_value":
        return b64encode(value.bytes_value).decode()
    scalar: JsonValue = getattr(value, kind)
    return scalar
