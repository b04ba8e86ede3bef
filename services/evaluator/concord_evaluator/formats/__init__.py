"""Trace formats: from files that people already have to traces that can be evaluated. Pure, and one trace at a time."""

from concord_evaluator.formats.registry import (
    ENTRY_POINT_GROUP,
    BrokenFormatError,
    TraceFormat,
    UnknownFormatError,
    read_traces,
    recognise,
    trace_formats,
)
from concord_evaluator.formats.source import FormatError, Head, JsonRecord, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder

__all__ = [
    "ENTRY_POINT_GROUP",
    "BrokenFormatError",
    "FormatError",
    "Head",
    "JsonRecord",
    "Origin",
    "Source",
    "Trace",
    "TraceBuilder",
    "TraceFormat",
    "UnknownFormatError",
    "read_traces",
    "recognise",
    "trace_formats",
]
