"""One export request in both forms of OTLP. Its JSON has ids in hexadecimal, that of protobuf alone in base64.

Source: OpenTelemetry protocol specification, "JSON Protobuf Encoding".
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_IDS: Final = ("traceId", "spanId", "parentSpanId")


def protobuf_of(request: dict[str, Any]) -> ExportTraceServiceRequest:
    """The message of a request in OTLP's JSON."""
    return ParseDict(
        _with_ids(request, lambda text: b64encode(bytes.fromhex(text)).decode()), ExportTraceServiceRequest()
    )


def json_of(request: ExportTraceServiceRequest) -> bytes:
    """A request in OTLP's JSON."""
    written = MessageToDict(request, use_integers_for_enums=True)
    return json.dumps(_with_ids(written, lambda text: b64decode(text).hex()), separators=(",", ":")).encode()


def _with_ids(request: dict[str, Any], converted: Callable[[str], str]) -> dict[str, Any]:
    """A copy in which the spans' ids are converted."""
    groups = [
        group
        | {
            "scopeSpans": [
                scoped | {"spans": [_span(span, converted) for span in scoped["spans"]]}
                for scoped in group["scopeSpans"]
            ]
        }
        for group in request["resourceSpans"]
    ]
    return {"resourceSpans": groups}


def _span(span: dict[str, Any], converted: Callable[[str], str]) -> dict[str, Any]:
    return span | {name: converted(span[name]) for name in _IDS if name in span}
