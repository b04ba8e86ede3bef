"""Records the spans of a program into a file of OTLP/JSON, one export a line, for the programs of this folder."""

import base64
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

SERVICE = "demo-service"
"""The `service.name` of every recording. No agent has this name."""

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
def recorded(path: Path) -> Iterator[TracerProvider]:
    """The process's tracer provider. Its spans are in the file at `path` after the context."""
    with exported(path) as exporter:
        provider = TracerProvider(resource=Resource({"service.name": SERVICE}))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
        yield provider
        provider.force_flush()


def arguments() -> tuple[str, str, Path]:
    """The arguments of a program: the team, the instrumentation, and the file for the trace."""
    team, instrumentation, path = sys.argv[1:]
    return team, instrumentation, Path(path)
