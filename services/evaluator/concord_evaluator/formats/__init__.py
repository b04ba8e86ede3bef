"""Trace formats: from files that people already have to traces that can be evaluated. Pure, and one trace at a time."""

from concord_evaluator.formats.folder import Folder
from concord_evaluator.formats.registry import (
    ENTRY_POINT_GROUP,
    BrokenFormatError,
    FolderFormat,
    TraceFormat,
    UnknownFormatError,
    folder_formats,
    read_folder,
    read_traces,
    recognise,
    trace_formats,
)
from concord_evaluator.formats.source import FormatError, Head, JsonRecord, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder

__all__ = [
    "ENTRY_POINT_GROUP",
    "BrokenFormatError",
    "Folder",
    "FolderFormat",
    "FormatError",
    "Head",
    "JsonRecord",
    "Origin",
    "Source",
    "Trace",
    "TraceBuilder",
    "TraceFormat",
    "UnknownFormatError",
    "folder_formats",
    "read_folder",
    "read_traces",
    "recognise",
    "trace_formats",
]
