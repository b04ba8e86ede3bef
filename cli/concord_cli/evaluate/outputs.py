"""The files that `concord evaluate` writes: result rows, and agent graphs as GraphML."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import networkx as nx
from pydantic_core import to_json

from concord.assessment.result_row import ResultRow
from concord.rows import COMPRESSED, form_of
from concord_cli.display_text import printable
from concord_cli.errors import UsageError
from concord_cli.output_files import output_file, prepare_folder

_LEVEL: Final = 6
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.#-]")


class RowWriter(Protocol):
    """Writes one row."""

    def __call__(self, row: ResultRow) -> None: ...


@contextmanager
def result_writer(path: Path | None, agentbeats_ids: dict[str, str]) -> Iterator[RowWriter]:
    """Writes rows to a file: `.jsonl` with a row on each line, `.json` as the results document; `.gz` compresses.

    Raises UsageError.
    """
    if path is None:
        yield lambda _: None
        return
    if form_of(path) not in {".json", ".jsonl"}:
        raise UsageError(
            f"{path}: unknown file type: use .json (results document) or .jsonl (one row per line), and .gz to compress"
        )
    prepare_folder(path)
    with output_file(path) as file, _compressed(file) if path.suffix == COMPRESSED else nullcontext(file) as written:
        yield from _lines(written) if form_of(path) == ".jsonl" else _document(written, agentbeats_ids)


def _compressed(file: BinaryIO) -> GzipFile:
    """The same rows make the same file: neither a time nor a name is in it."""
    return GzipFile(fileobj=file, mode="wb", filename="", mtime=0, compresslevel=_LEVEL)


def _lines(file: BinaryIO | GzipFile) -> Iterator[RowWriter]:
    yield lambda row: _put(file, row.model_dump_json().encode(), b"\n")


def _document(file: BinaryIO | GzipFile, agentbeats_ids: dict[str, str]) -> Iterator[RowWriter]:
    """Writes `{"participants": {}, "results": [...]}` row by row, since the rows may not fit into memory."""
    _put(file, b'{"participants": ', to_json(agentbeats_ids), b', "results": [')
    separator = b"\n"

    def write(row: ResultRow) -> None:
        nonlocal separator
        _put(file, separator, row.model_dump_json(indent=2).encode())
        separator = b",\n"

    yield write
    _put(file, b"\n]}\n")


def _put(file: BinaryIO | GzipFile, *parts: bytes) -> None:
    file.writelines(parts)


@contextmanager
def graph_writer(path: Path | None) -> Iterator[RowWriter]:
    """Writes agent graphs: that of a single row to a `.graphml` file, or a file for each row to a folder.

    Raises UsageError, also for a second row if `path` is a file.
    """
    if path is None:
        yield lambda _: None
    elif path.suffix == ".graphml" and not path.is_dir():
        prepare_folder(path)
        with output_file(path) as file:
            yield _single_graph(path, file)
    else:
        prepare_folder(path / "graph")
        yield _graphs_in(path)


def _single_graph(path: Path, file: BinaryIO) -> RowWriter:
    written = False

    def write(row: ResultRow) -> None:
        nonlocal written
        if written:
            raise UsageError(
                f"{path}: the input has several traces: give a folder for their graphs instead of one file"
            )
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
        with output_file(folder / f"{name}.graphml") as file:
            write_graph(row, file)

    return write


def agent_graph(row: ResultRow) -> "nx.DiGraph[str]":
    """The agent graph of a row: an edge from each caller to each of its callees, over all trials.

    Nodes have the agent's counts and metrics; undefined metrics are left out. Control characters in ids, which XML
    does not allow, become spaces.
    """
    detail = row.detail
    graph: nx.DiGraph[str] = nx.DiGraph(trace=printable(detail.assessment_id))
    for agent in detail.agents:
        graph.add_node(
            printable(agent.id),
            declared=agent.declared,
            calls_made=agent.calls_made,
            calls_received=agent.calls_received,
            errors_received=agent.errors_received,
            **({} if agent.latency_avg_ms is None else {"latency_avg_ms": agent.latency_avg_ms}),
        )
    for metric in detail.metrics:
        if metric.agent is not None and metric.value is not None:
            graph.add_node(printable(metric.agent), **{metric.id: metric.value})
    for call in (call for trial in detail.trials for call in trial.interactions):
        edge = printable(call.caller), printable(call.callee)
        known = graph.edges.get(edge, {})
        graph.add_edge(
            *edge,
            calls=known.get("calls", 0) + call.calls,
            errors=known.get("errors", 0) + call.errors,
            retries=known.get("retries", 0) + call.retries,
            **{kind: known.get(kind, 0) + calls for kind, calls in call.kinds.items()},
        )
    return graph


def write_graph(row: ResultRow, file: BinaryIO) -> None:
    """Writes the agent graph of a row as GraphML, which Gephi, yEd, Cytoscape, igraph and NetworkX read."""
    nx.write_graphml(agent_graph(row), file)
