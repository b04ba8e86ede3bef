"""Records the spans of a program into a file of OTLP/JSON, one export a line, for the programs of this folder."""

import base64
import gzip
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

SERVICE = "demo-service"
"""The `service.name` of recordings whose spans name the agents. No agent has this name."""

MAX_TEXT = 700
"""Longer texts are cut: prompts and answers make most of a trace, and no mapping reads them."""

_IDS = ("traceId", "spanId", "parentSpanId")


class FileExporter(SpanExporter):
    """Keeps all spans in memory until `write`, without stack traces."""

    def __init__(self) -> None:
        self._exports: list[dict[str, Any]] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keeps the spans."""
        self._exports.append(_hex_ids(MessageToDict(encode_spans(spans))))
        return SpanExportResult.SUCCESS

    def write(self, path: Path) -> None:
        """Writes one export a line."""
        path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in self._exports))


def _hex_ids(value: Any) -> Any:
    """OTLP/JSON has ids in hex, whereas protobuf's JSON form has base64."""
    if isinstance(value, list):
        return [_hex_ids(each) for each in value if not _is_stack(each)]
    if isinstance(value, str):
        return value.partition("Traceback (most recent")[0][:MAX_TEXT]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64decode(each).hex() if key in _IDS else _hex_ids(each) for key, each in value.items()}


def _is_stack(value: Any) -> bool:
    return isinstance(value, dict) and value.get("key") == "exception.stacktrace"


@contextmanager
def exported(path: Path) -> Iterator[FileExporter]:
    """An exporter for a tracer provider of one's own. Its spans are in the file at `path` after the context."""
    exporter = FileExporter()
    yield exporter
    exporter.write(path)


@contextmanager
def recorded(
    path: Path, *, service: str = SERVICE, processor: Callable[[SpanExporter], SpanProcessor] = SimpleSpanProcessor
) -> Iterator[TracerProvider]:
    """The process's tracer provider. Its spans are in the file at `path` after the context."""
    with exported(path) as exporter:
        provider = TracerProvider(resource=Resource({"service.name": service}))
        provider.add_span_processor(processor(exporter))
        trace.set_tracer_provider(provider)
        yield provider
        provider.force_flush()


@contextmanager
def received(path: Path) -> Iterator[str]:
    """The URL of a receiver of OTLP over HTTP, at any path. Its exports are in the file at `path` after the context."""
    exports: list[str] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            unpacked = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            export = MessageToDict(ExportTraceServiceRequest.FromString(unpacked))
            exports.append(json.dumps(_hex_ids(export), ensure_ascii=False) + "\n")
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    path.write_text("".join(exports))


def arguments() -> tuple[str, str, Path]:
    """The arguments of a program: the team, the instrumentation, and the file for the trace."""
    team, instrumentation, path = sys.argv[1:]
    return team, instrumentation, Path(path)
