"""Which trace formats there are, and which one reads a file or a folder."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from concord_evaluator.formats import (
    a2a,
    concord_jsonl,
    cooperbench,
    langfuse,
    marble,
    mlflow,
    otlp,
    phoenix,
    span_csv,
    whowhen,
)
from concord_evaluator.formats.format import Folder, TraceFormat
from concord_evaluator.formats.source import FormatError, Source
from concord_evaluator.formats.trace import Trace
from concord_evaluator.plugins import installed_plugins

BUILT_IN_FORMATS: Final[Mapping[str, TraceFormat]] = {
    "a2a": a2a.FORMAT,
    "concord": concord_jsonl.FORMAT,
    "cooperbench": cooperbench.FORMAT,
    "langfuse": langfuse.FORMAT,
    "marble": marble.FORMAT,
    "mlflow": mlflow.FORMAT,
    "otlp": otlp.FORMAT,
    "phoenix": phoenix.FORMAT,
    "spans": span_csv.FORMAT,
    "whowhen": whowhen.FORMAT,
}

ENTRY_POINT_GROUP: Final = "concord.trace_formats"
"""A package adds a format by an entry point in this group: `name = "module:FORMAT"`, a `TraceFormat`."""


class UnknownFormatError(Exception):
    """No format has that name."""


class BrokenFormatError(Exception):
    """An installed package offers a format that cannot be used."""


@cache
def trace_formats() -> Mapping[str, TraceFormat]:
    """The built-in formats and those of installed packages, sorted by their names. Raises BrokenFormatError."""
    formats = dict(BUILT_IN_FORMATS)
    for plugin in installed_plugins(ENTRY_POINT_GROUP, "trace format", BrokenFormatError):
        if plugin.name in formats:
            raise BrokenFormatError(f"{plugin.package}: another trace format is also called {plugin.name!r}")
        if not isinstance(plugin.object, TraceFormat):
            raise BrokenFormatError(f"{plugin.package}: {plugin.reference} is not a TraceFormat")
        formats[plugin.name] = plugin.object
    return dict(sorted(formats.items()))


def read_traces(source: Source, format_name: str | None = None) -> Iterator[Trace]:
    """The traces of a source, in the named format, or without a name in the format that recognises it.

    Raises FormatError, at the first trace or later; UnknownFormatError.
    """
    name = format_name or recognise(source)
    if name not in trace_formats():
        raise UnknownFormatError(f"unknown trace format {name!r}: one of {', '.join(trace_formats())}")
    return trace_formats()[name].read(source)


def folder_formats(files: frozenset[str], format_name: str | None = None) -> list[str]:
    """The names of the formats (or the given one) that recognise a folder of these files as one trace."""
    formats = {name: each.folder for name, each in trace_formats().items() if format_name in {None, name}}
    return [name for name, folder in formats.items() if folder is not None and folder.recognises(files)]


def read_folder(folder: Folder, format_name: str | None = None) -> Iterator[Trace]:
    """The traces of a folder that a format recognises. Raises FormatError, at the first trace or later."""
    names = folder_formats(folder.files, format_name)
    if len(names) > 1:
        raise FormatError(folder.name, None, f"matches several formats ({', '.join(names)}): choose one with --format")
    reader = trace_formats()[names[0]].folder if names else None
    if reader is None:
        raise FormatError(folder.name, None, "not a trace in any known folder format")
    return reader.read(folder)


def recognise(source: Source) -> str:
    """The name of the format that recognises a source. Raises FormatError if none or several do."""
    head = source.head
    if not head.data.strip():
        raise source.error("is empty")
    names = [name for name, each in trace_formats().items() if each.recognises(head)]
    if len(names) == 1:
        return names[0]
    if names:
        raise source.error(f"matches several formats ({', '.join(names)}): choose one with --format", 1)
    raise source.error(f"not a trace in any known format ({', '.join(trace_formats())})", 1)
