"""Tempo's JSON: a trace of OTLP under `batches` (`/api/traces`), or under `trace` (`/api/v2/traces`)."""

from collections.abc import Iterator

from pydantic import JsonValue

from concord.trace.otlp import spans_in
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace
from concord_evaluator.formats.trace_stores import listed

_SCOPED = ("scopeSpans", "instrumentationLibrarySpans", "ilSpans")
"""The present name of spans by scope, and those of OTLP before version 1.0, which older versions of Tempo write."""


def _recognises(head: Head) -> bool:
    trace = head.first.get("trace")
    if isinstance(trace, dict) and "resourceSpans" in trace:
        return True
    return bool(head.listed("batches").keys() & {"resource", *_SCOPED})


def _read(source: Source) -> Iterator[Trace]:
    return traces_of(_spans(source), source, Channel.OTLP)


def _spans(source: Source) -> Iterator[ReadSpan]:
    for line, value in source.json_values():
        with source.record(line):
            yield from [ReadSpan.of(span, line) for span in spans_in({"resourceSpans": _batches(value)})]


def _batches(value: JsonValue) -> list[JsonValue]:
    inner = value.get("trace") if isinstance(value, dict) else None
    found = listed(inner, "resourceSpans") if inner is not None else listed(value, "batches")
    if found is None:
        raise ValueError("not a trace of Tempo: neither `batches` nor `trace` with `resourceSpans`")
    return [_renamed(batch) for batch in found]


def _renamed(batch: JsonValue) -> JsonValue:
    """A batch with the present names."""
    if not isinstance(batch, dict):
        return batch
    scoped = next((found for name in _SCOPED if (found := listed(batch, name)) is not None), [])
    spans: list[JsonValue] = [
        {**each, "scope": each.get("scope", each.get("instrumentationLibrary"))} if isinstance(each, dict) else each
        for each in scoped
    ]
    return {**batch, "scopeSpans": spans}


FORMAT = TraceFormat(_recognises, _read)
