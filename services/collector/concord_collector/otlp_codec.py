"""The collector's answers to OTLP/HTTP, in both encodings. (`concord.trace.otlp` reads the exports.)"""

import json

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)


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
