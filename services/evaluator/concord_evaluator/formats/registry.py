"""Which trace formats there are, and which one reads a file or a folder."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from concord_evaluator.formats import (
    a2a,
    coding_agents,
    concord_jsonl,
    inspect_logs,
    otlp,
    plain_rows,
    span_csv,
    trajectories,
)
from concord_evaluator.formats.format import Folder, TraceFormat
from concord_evaluator.formats.refusals import refusal_of
from concord_evaluator.formats.source import FormatError, Head, Source
from concord_evaluator.formats.stores import STORES
from concord_evaluator.formats.trace import Trace
from concord_evaluator.plugins import FORMAT_GROUP, Extensions

_ALL: Final[Mapping[str, TraceFormat]] = {
    "a2a": a2a.FORMAT,
    "adk": trajectories.ADK,
    "atif": trajectories.ATIF,
    "claude-code": coding_agents.CLAUDE_CODE,
    "inspect": inspect_logs.FORMAT,
    "rows": plain_rows.FORMAT,
    "codex": coding_agents.CODEX_SESSION,
    "tau2": trajectories.TAU2,
    "concord": concord_jsonl.FORMAT,
    "otlp": otlp.FORMAT,
    "spans": span_csv.FORMAT,
    "tempo": otlp.TEMPO,
    **STORES,
}

BUILT_IN_FORMATS: Final[Mapping[str, TraceFormat]] = dict(sorted(_ALL.items()))


def _read(name: str, offered: object) -> Iterator[tuple[str, TraceFormat]]:
    if not isinstance(offered, TraceFormat):
        raise TypeError("it is not a TraceFormat")
    yield name, offered


FORMATS: Final = Extensions(FORMAT_GROUP, "trace format", _read, BUILT_IN_FORMATS)
"""A package adds a format by an entry point in `FORMAT_GROUP`: `name = "module:FORMAT"`, a `TraceFormat`."""

_Input = TypeVar("_Input", Source, Folder)
_Seen = TypeVar("_Seen", Head, frozenset[str])


class UnknownFormatError(Exception):
    """No format has that name."""


def read_traces(source: Source, format_name: str | None = None) -> Iterator[Trace]:
    """The traces of a source, in the named format, or without a name in the format that recognises it.

    Raises FormatError, at the first trace or later; UnknownFormatError.
    """
    name = format_name or recognise(source)
    if name not in FORMATS.installed:
        raise UnknownFormatError(f"unknown trace format {name!r}: one of {', '.join(FORMATS.installed)}")
    return _guarded(FORMATS.installed[name].read, source, name)


def folder_formats(files: frozenset[str], format_name: str | None = None) -> list[str]:
    """The names of the formats (or the given one) that recognise a folder of these files as one trace."""
    formats = {name: each.folder for name, each in FORMATS.installed.items() if format_name in {None, name}}
    own = frozenset(file for file in files if "/" not in file)
    return [
        name
        for name, folder in formats.items()
        if folder is not None and _recognises(folder.recognises, files if folder.reads_below else own)
    ]


def recognised_by(head: Head, format_name: str | None = None) -> list[str]:
    """The names of the formats (or the given one) that recognise a file. One that raises does not recognise it."""
    formats = {name: each for name, each in FORMATS.installed.items() if format_name in {None, name}}
    return [name for name, each in formats.items() if _recognises(each.recognises, head)]


def read_folder(folder: Folder, format_name: str | None = None) -> Iterator[Trace]:
    """The traces of a folder that a format recognises. Raises FormatError, at the first trace or later."""
    names = folder_formats(folder.files, format_name)
    if len(names) > 1:
        raise FormatError(folder.name, None, f"matches several formats ({', '.join(names)}): choose one with --format")
    reader = FORMATS.installed[names[0]].folder if names else None
    if reader is None:
        raise FormatError(folder.name, None, "not a trace in any known folder format")
    return _guarded(reader.read, folder, names[0])


def recognise(source: Source) -> str:
    """The name of the format that recognises a source. Raises FormatError if none or several do."""
    head = source.head
    if not head.data.strip():
        raise source.error("is empty")
    names = recognised_by(head)
    if len(names) == 1:
        return names[0]
    if names:
        raise source.error(f"matches several formats ({', '.join(names)}): choose one with --format", 1)
    if (fault := head.broken_json) is not None:
        raise source.error(f"is no JSON: {fault.reason}", fault.line)
    if reason := refusal_of(head):
        raise source.error(reason, 1)
    raise source.error(f"not a trace in any known format ({', '.join(FORMATS.installed)})", 1)


def _recognises(look: Callable[[_Seen], bool], seen: _Seen) -> bool:
    try:
        return look(seen)
    except Exception:
        return False


def _guarded(read: Callable[[_Input], Iterator[Trace]], given: _Input, name: str) -> Iterator[Trace]:
    """The traces that a format reads. Anything else that it raises is the error of its file, and of no other one."""
    try:
        yield from read(given)
    except (FormatError, OSError):
        raise
    except Exception as error:
        raise FormatError(given.name, None, f"the format {name} failed: {type(error).__name__}: {error}") from error
