"""Trace formats: they read files into traces, one trace at a time. Pure. `registry` lists the built-in ones.

A package adds its own with an entry point in the group `concord.trace_formats` that names a `TraceFormat`:

    [project.entry-points."concord.trace_formats"]
    mine = "my_package:FORMAT"
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from concord_evaluator.formats.format import Folder, FolderFormat, TraceFormat
from concord_evaluator.formats.redaction import redactor
from concord_evaluator.formats.source import FormatError, Head, JsonRecord, Source, UnrecognisedError
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder

if TYPE_CHECKING:
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

_OF_THE_REGISTRY: Final = {
    "BUILT_IN_FORMATS",
    "FORMATS",
    "UnknownFormatError",
    "folder_formats",
    "read_folder",
    "read_traces",
    "recognise",
    "recognised_by",
}


def __getattr__(name: str) -> object:
    # Imported when first used, since the registry imports all formats, and an assessment reads none but live spans.
    if name not in _OF_THE_REGISTRY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.registry"), name)
