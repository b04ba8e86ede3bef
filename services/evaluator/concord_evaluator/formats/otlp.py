"""OTLP: spans of OpenTelemetry's collector and SDKs, in protobuf, as one JSON document, or one request per line.

Logs in the same file tell what was said in the spans. Tempo writes the same under `batches` (`/api/traces`), or under
`trace` (`/api/v2/traces`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from concord.trace.otlp import Span, events_in, read_usual, spans_in
from concord.trace.otlp.content import Event
from concord.trace.otlp.spans import SpanKey
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.otlp_protobuf import is_protobuf, protobuf_spans
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace

_LOGS: Final = frozenset({"resourceLogs", "resource_logs"})
_KEYS: Final = frozenset({"resourceSpans", "resource_spans"}) | _LOGS
_TEMPO: Final = "batches"
_BATCH_KEYS: Final = frozenset({"resource", "scopeSpans", "instrumentationLibrarySpans", "ilSpans"})


def _recognises(head: Head) -> bool:
    return not _KEYS.isdisjoint(head.json_keys) or is_protobuf(head)


def _is_tempo(head: Head) -> bool:
    trace = head.first.get("trace")
    if isinstance(trace, dict) and "resourceSpans" in trace:
        return True
    return not _BATCH_KEYS.isdisjoint(head.listed(_TEMPO))


def _read(source: Source) -> Iterator[Trace]:
    events: defaultdict[SpanKey, list[Event]] = defaultdict(list)
    spans = protobuf_spans(source) if is_protobuf(source.head) else _spans(source, events)
    return traces_of(spans, source, Channel.OTLP, events=events)


def _spans(source: Source, events: defaultdict[SpanKey, list[Event]]) -> Iterator[ReadSpan]:
    """The spans. Adds the events of logs, which may stand before their spans, or after them."""
    for line, value in source.json_values_or(read_usual):
        if isinstance(value, tuple):
            yield from (ReadSpan.of(span, line) for span in value)
            continue
        read: Iterable[Span] = ()
        with source.record(line):
            if isinstance(value, dict) and isinstance(inner := value.get("trace"), dict):
                value = inner
            if not isinstance(value, dict) or {*_KEYS, _TEMPO}.isdisjoint(value):
                raise ValueError("not an OTLP export: `resourceSpans` (or Tempo's `batches`) is missing")
            for trace_id, span_id, event in events_in(value) if not _LOGS.isdisjoint(value) else ():
                events[trace_id, span_id].append(event)
            read = spans_in(value)
        yield from (ReadSpan.of(span, line) for span in read)


FORMAT: Final = TraceFormat(_recognises, _read)
TEMPO: Final = TraceFormat(_is_tempo, _read)
