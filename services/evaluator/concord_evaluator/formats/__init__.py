"""Trace formats: they read files into traces, one trace at a time. Pure. `registry` lists the built-in ones.

A package adds its own with an entry point in the group `concord.trace_formats` that names a `TraceFormat`:

    [project.entry-points."concord.trace_formats"]
    mine = "my_package:FORMAT"
"""

from concord_evaluator.formats.format import Folder, FolderFormat, TraceFormat
from concord_evaluator.formats.redaction import redactor
from concord_evaluator.formats.registry import (
    BUILT_IN_FORMATS,
    FORMATS,
    UnknownFormatError,
    folder_formats,
    read_folder,
    read_traces,
    recognise,
    recognised_by,
)
from concord_evaluator.formats.source import FormatError, Head, JsonRecord, Source, UnrecognisedError
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder

__all__ = [
    "BUILT_IN_FORMATS",
    "FORMATS",
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
    "UnrecognisedError",
    "folder_formats",
    "read_folder",
    "read_traces",
    "recognise",
    "recognised_by",
    "redactor",
]
