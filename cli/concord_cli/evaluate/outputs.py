"""What is left of an evaluation: result files and graphs, each there whole or not at all."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from pydantic_core import to_json

from concord.assessment.results import ResultRow
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.evaluate.graphml import write_graph
from concord_cli.results_file import prepare_folder

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.#-]")


class RowWriter(Protocol):
    """Takes rows as they come."""

    def __call__(self, row: ResultRow) -> None: ...


@contextmanager
def result_writer(path: Path | None, agentbeats_ids: dict[str, str]) -> Iterator[RowWriter]:
    """Writes rows to a file: `.jsonl` one to a line, `.json` the results document. Raises UsageError."""
    if path is None:
        yield lambda _: None
        return
    if path.suffix not in {".json", ".jsonl"}:
        raise UsageError(f"{path}: neither .json (the results document) nor .jsonl (a row to a line)")
    prepare_folder(path)
    with _whole_file(path) as file:
        yield from _lines(file) if path.suffix == ".jsonl" else _document(file, agentbeats_ids)


def _lines(file: BinaryIO) -> Iterator[RowWriter]:
    yield lambda row: _put(file, row.model_dump_json().encode(), b"\n")


def _document(file: BinaryIO, agentbeats_ids: dict[str, str]) -> Iterator[RowWriter]:
    """`{"participants": {}, "results": [...]}`, row by row: a file may hold more traces than memory has room for."""
    _put(file, b'{"participants": ', to_json(agentbeats_ids), b', "results": [')
    separator = b"\n"

    def write(row: ResultRow) -> None:
        nonlocal separator
        _put(file, separator, row.model_dump_json(indent=2).encode())
        separator = b",\n"

    yield write
    _put(file, b"\n]}\n")


def _put(file: BinaryIO, *parts: bytes) -> None:
    file.writelines(parts)


@contextmanager
def graph_writer(path: Path | None) -> Iterator[RowWriter]:
    """Writes the agent graph of the one row to a `.graphml` file, or those of all rows to a folder, each its own.

    Raises UsageError, for a second row too where `path` is a file.
    """
    if path is None:
        yield lambda _: None
    elif path.suffix == ".graphml" and not path.is_dir():
        prepare_folder(path)
        with _whole_file(path) as file:
            yield _single_graph(path, file)
    else:
        prepare_folder(path / "graph")
        yield _graphs_in(path)


def _single_graph(path: Path, file: BinaryIO) -> RowWriter:
    written = False

    def write(row: ResultRow) -> None:
        nonlocal written
        if written:
            raise UsageError(f"{path}: there are several traces, and this is one file: name a folder for their graphs")
        write_graph(row, file)
        written = True

    return write


def _graphs_in(folder: Path) -> RowWriter:
    taken: set[str] = set()

    def write(row: ResultRow) -> None:
        stem = _NOT_IN_NAMES.sub("_", row.detail.assessment_id).lstrip(".") or "trace"
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name)
        with _whole_file(folder / f"{name}.graphml") as file:
            write_graph(row, file)

    return write


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces `path` in one step once all went well. Raises AssessmentError if it cannot be written."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        raise AssessmentError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
