"""OTLP: spans of OpenTelemetry's collector and SDKs, in protobuf, as one JSON document, or one request per line."""

from collections.abc import Iterator

from concord.trace.otlp import spans_in
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.otlp_protobuf import is_protobuf, protobuf_spans
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace


def _recognises(head: Head) -> bool:
    return "resourceSpans" in head.json_keys or is_protobuf(head)


def _read(source: Source) -> Iterator[Trace]:
    spans = protobuf_spans(source) if is_protobuf(source.head) else _spans(source)
    return traces_of(spans, source, Channel.OTLP)


def _spans(source: Source) -> Iterator[ReadSpan]:
    for line, value in source.json_values():
        with source.record(line):
            if not isinstance(value, dict) or "resourceSpans" not in value:
                raise ValueError("not an OTLP export: `resourceSpans` is missing")
            yield from [ReadSpan.of(span, line) for span in spans_in(value)]


FORMAT = TraceFormat(_recognises, _read)
