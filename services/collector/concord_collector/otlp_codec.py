"""OTLP/HTTP encodings: reads exports in protobuf, writes responses in both. (`concord.trace.otlp` reads JSON.)"""

import json
from collections.abc import Iterable, Iterator, Set

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from pydantic import JsonValue

from concord.trace.otlp import AttributeValue, Span, as_attribute, destination
from concord.trace.otlp.content import is_content, with_content
from concord.trace.otlp.genai import ATTRIBUTES, DESTINATION, SERVICE_NAME


def read_protobuf(body: bytes) -> Iterator[Span]:
    """The spans of an `ExportTraceServiceRequest`, in its order. Raises ValueError if the body is none."""
    try:
        export = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise ValueError("the body is not an ExportTraceServiceRequest") from error
    return _spans(export)


def write_protobuf(rejected: int, reason: str) -> bytes:
    """An `ExportTraceServiceResponse`; with `rejected` spans, a partial success for this reason."""
    response = ExportTraceServiceResponse()
    if rejected:
        response.partial_success.CopyFrom(ExportTracePartialSuccess(rejected_spans=rejected, error_message=reason))
    return response.SerializeToString()


def write_json(rejected: int, reason: str) -> bytes:
    """The same in JSON, where 64-bit numbers are strings."""
    partial = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": reason}} if rejected else {}
    return json.dumps(partial).encode()


def _spans(export: ExportTraceServiceRequest) -> Iterator[Span]:
    for group in export.resource_spans:
        service = next((str(_plain(each.value)) for each in group.resource.attributes if each.key in SERVICE_NAME), "")
        for scoped in group.scope_spans:
            for span in scoped.spans:
                yield _span(span, scoped.scope.name, service)


def _span(span: ProtoSpan, scope: str, service: str) -> Span:
    client = span.kind == ProtoSpan.SPAN_KIND_CLIENT
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        name=span.name,
        scope=scope,
        service=service,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        client=client,
        failed=span.status.code == Status.STATUS_CODE_ERROR,
        message=span.status.message,
        attributes=with_content(
            _exception(span.events) | _attributes(span.attributes),
            {each.key: _plain(each.value) for each in span.attributes if is_content(each.key)},
            (
                (event.name, {each.key: _plain(each.value) for each in event.attributes})
                for event in span.events
                if event.name.startswith("gen_ai.")
            ),
        ),
        address=destination(_attributes(span.attributes, DESTINATION)) if client else "",
    )


def _exception(events: Iterable[ProtoSpan.Event]) -> dict[str, AttributeValue]:
    """The attributes of the first exception of a span."""
    return next((_attributes(event.attributes) for event in events if event.name == "exception"), {})


def _attributes(attributes: Iterable[KeyValue], names: Set[str] = ATTRIBUTES) -> dict[str, AttributeValue]:
    return {each.key: _attribute(each.value) for each in attributes if each.key in names}


def _attribute(value: AnyValue) -> AttributeValue:
    if value.HasField("string_value"):
        return value.string_value
    return as_attribute(_plain(value))


def _plain(value: AnyValue) -> JsonValue:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_plain(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return {each.key: _plain(each.value) for each in value.kvlist_value.values}
    if kind == "bytes_value":
        return value.bytes_value.hex()
    scalar: JsonValue = getattr(value, kind)
    return scalar
