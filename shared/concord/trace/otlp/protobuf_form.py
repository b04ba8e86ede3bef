"""OTLP/protobuf: the spans of an export. Needs `opentelemetry-proto`, which an agent's author does not install.

Of what an export repeats in most of its spans, such as the name of a model, each attribute is read once. To read one
from a message takes several times as long as to find its bytes again.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, Final, Protocol

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import Default
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from pydantic import JsonValue

from concord.trace.otlp.attribute import Attributes
from concord.trace.otlp.content import Event, with_content
from concord.trace.otlp.genai import SERVICE_NAME, SERVICE_VERSION
from concord.trace.otlp.spans import Span, destination

_CLIENT, _ERROR = ProtoSpan.SPAN_KIND_CLIENT, Status.STATUS_CODE_ERROR
_PACKAGE: Final = "concord.otlp"
_BYTES: Final = {"attributes", "status"}
"""The fields of a span that are left as bytes."""

_MAX_CACHED: Final = 128
"""Bytes of an attribute up to which it is kept in memory."""


class _WireSpan(Protocol):
    """OTLP's `Span`, whose attributes and status are still bytes."""

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    name: str
    kind: int
    start_time_unix_nano: int
    end_time_unix_nano: int
    attributes: Sequence[bytes]
    events: Sequence[ProtoSpan.Event]
    links: Sequence[ProtoSpan.Link]
    status: bytes


def _traces_data() -> Any:  # noqa: ANN401 - made of OTLP's own schema
    """OTLP's `TracesData`, whose bytes are those of an `ExportTraceServiceRequest`, with spans like `_WireSpan`."""
    file = FileDescriptorProto()
    trace_pb2.DESCRIPTOR.CopyToProto(file)
    former, file.name, file.package = file.package, f"{_PACKAGE}.proto", _PACKAGE
    pending: list[DescriptorProto] = list(file.message_type)
    while pending:
        message = pending.pop()
        pending += message.nested_type
        for field in message.field:
            if message.name == "Span" and field.name in _BYTES:
                field.type = FieldDescriptorProto.TYPE_BYTES
                field.ClearField("type_name")
            elif field.type_name.startswith(f".{former}."):
                field.type_name = f".{_PACKAGE}{field.type_name.removeprefix(f'.{former}')}"
    Default().AddSerializedFile(file.SerializeToString())
    return GetMessageClass(Default().FindMessageTypeByName(f"{_PACKAGE}.TracesData"))


_TRACES_DATA: Final = _traces_data()


def read_protobuf(body: bytes) -> Sequence[Span]:
    """The spans of an `ExportTraceServiceRequest`, in its order. Raises ValueError if the body is none."""
    try:
        return list(_spans(_TRACES_DATA.FromString(body)))
    except DecodeError as error:
        raise ValueError("the body is not an ExportTraceServiceRequest") from error


def _spans(export: Any) -> Iterator[Span]:  # noqa: ANN401 - made of OTLP's own schema
    for group in export.resource_spans:
        facts = group.resource.attributes
        service, version = _fact(facts, SERVICE_NAME), _fact(facts, SERVICE_VERSION)
        for scoped in group.scope_spans:
            scope = scoped.scope.name
            for span in scoped.spans:
                yield _span(span, scope, service, version)


def _fact(attributes: Iterable[KeyValue], names: Iterable[str]) -> str:
    return next((str(_plain(each.value)) for each in attributes if each.key in names), "")


def _span(span: _WireSpan, scope: str, service: str, version: str) -> Span:
    client, status = span.kind == _CLIENT, Status.FromString(span.status) if span.status else None
    read = Attributes()
    events = span.events
    for event in events:
        if event.name == "exception":
            read.read_kept((each.key, _plain(each.value)) for each in event.attributes)
            break
    read.read([(len(each) <= _MAX_CACHED and _known_scalar(each)) or _pair(each) for each in span.attributes])
    attributes, content = with_content(read.kept, read.told, tuple(_events(events)) if events else ())
    return Span(
        intern(span.trace_id.hex()),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.name,
        scope,
        service,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        client,
        status is not None and status.code == _ERROR,
        "" if status is None else status.message,
        attributes,
        destination(read.address) if client else "",
        version,
        content,
        () if span.parent_span_id else tuple((each.trace_id.hex(), each.span_id.hex()) for each in span.links),
    )


def _pair(written: bytes) -> tuple[str, JsonValue]:
    """The name and the value of an attribute. Raises DecodeError."""
    read = KeyValue.FromString(written)
    return read.key, _plain(read.value)


@lru_cache(maxsize=1 << 12)
def _known_scalar(written: bytes) -> tuple[str, JsonValue] | None:
    """The same; None for a list or an object, which no two spans may share: what is read below it is put into it."""
    pair = _pair(written)
    return None if isinstance(pair[1], list | dict) else pair


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
