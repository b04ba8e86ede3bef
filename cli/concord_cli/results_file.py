"""Results files: the document that the platform's client writes and that other commands read."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path, PurePath
from typing import IO, Final

import msgspec
from pydantic import JsonValue, ValidationError
from pydantic_core import from_json

from concord.assessment import Mode
from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.files import open_regular
from concord_cli.display_text import shortened
from concord_cli.errors import UsageError
from concord_cli.input_files import reasons
from concord_cli.output_files import write_text

COMPRESSED: Final = ".gz"

MAX_RESULTS: Final = 48 * 1024 * 1024
"""Bytes of a document or a line that is read, uncompressed. Reading takes up to nine times as much memory."""


_TABLES: Final[Mapping[str, list[object] | None]] = {"metrics": [], "interactions": [], "calls": [], "flow": None}
"""The parts that are most of a row, with what is read in their place if nobody asks for them."""

_AROUND: Final = frozenset({"results", "detail", "trials", "team_task"})
"""The parts of a document that have such parts."""

_ELEMENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""They leave elements and members as bytes."""


def write_results(path: Path, agentbeats_ids: Mapping[str, str], results: Sequence[JsonValue]) -> None:
    """Writes `{"participants": {role: agentbeats_id}, "results": [...]}`, replacing the file in one step.

    A2A loses the order of keys and the difference between 1 and 1.0. So Concord's rows are serialised by their model,
    and a document of such rows is byte for byte the one that the gateway writes. Other results stay as they are.
    Raises AssessmentError.
    """
    read = [_read(result) for result in results]
    rows = [each for each in read if isinstance(each, ResultRow)]
    if len(rows) == len(read):
        document = ResultsDocument(participants=dict(agentbeats_ids), results=rows).model_dump_json(indent=2)
    else:
        written = [each.model_dump(mode="json") if isinstance(each, ResultRow) else each for each in read]
        document = json.dumps({"participants": dict(agentbeats_ids), "results": written}, indent=2)
    write_text(path, document + "\n")


def _read(result: JsonValue) -> ResultRow | JsonValue:
    try:
        return ResultRow.model_validate(result)
    except ValidationError:
        return result


def read_rows(path: Path) -> list[ResultRow]:
    """The rows of a results file. Raises UsageError."""
    return list(rows_in(path))


def rows_in(path: Path, *, tables: bool = True) -> Iterator[ResultRow]:
    """The rows of a results file, as they are read: the document, or `.jsonl` with one row on each line.

    Either may be compressed (`.gz`). Without `tables`, rows have no metrics, interactions, calls and flows of facts,
    and these are not checked. Raises UsageError, also for over `MAX_RESULTS` bytes, and for two rows of one assessment.
    """
    seen = list[str]()
    try:
        with (
            open_regular(path) as raw,
            gzip.open(raw) if path.suffix == COMPRESSED else nullcontext(raw) as file,
        ):
            for row in _rows(file, form_of(path), _json if tables else _json_without_tables):
                if row.detail.mode is not Mode.RECORDED:  # equal traces have equal rows
                    seen.append(row.detail.assessment_id)
                yield row
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"{path}: the compressed data is damaged: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        _refuse_trace(path)
        raise UsageError(f"{path}: not a results file of Concord: {shortened(reasons(error), 300)}") from error
    except ValueError as error:
        _refuse_trace(path)
        raise UsageError(f"{path}: not a results file of Concord: {shortened(str(error), 300)}") from error
    refuse_copies(path, seen)


def _refuse_trace(path: Path) -> None:
    """Raises UsageError for a trace, which names the command that makes results of it."""
    from concord_evaluator.formats import Source, recognised_by

    with suppress(OSError, ValueError), open_regular(path) as file:
        if recognised_by(Source(str(path), file).head):
            raise UsageError(f"{path}: a trace, not results: run `concord evaluate {path} -o results.json` first")


def _rows(file: IO[bytes] | gzip.GzipFile, form: str, parsed: Callable[[bytes], object]) -> Iterator[ResultRow]:
    """Raises ValueError, also for NaN and infinite numbers, which are not JSON."""
    if form != ".jsonl":
        yield from ResultsDocument.model_validate(parsed(_bounded(file.read))).results
        return
    while line := _bounded(file.readline):
        if line.strip():
            yield ResultRow.model_validate(parsed(line))


def _json(content: bytes) -> object:
    try:
        return from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"Invalid JSON: {error}") from error


def _json_without_tables(content: bytes) -> object:
    try:
        return _without_tables(content.strip(b" \t\r\n"))
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        _json(content)  # says where in the whole the error is
        raise ValueError(f"Invalid JSON: {error}") from error


def _without_tables(part: bytes | msgspec.Raw) -> object:
    """Parses what is kept, and passes over the tables, which takes a quarter of the time of parsing all."""
    first = bytes(memoryview(part)[:1])
    if first == b"[":
        return list(map(_without_tables, _ELEMENTS.decode(part)))
    if first == b"{":
        return {key: _kept(key, each) for key, each in _MEMBERS.decode(part).items()}
    return _json(bytes(part))


def _kept(key: str, part: msgspec.Raw) -> object:
    if key in _TABLES:
        return _TABLES[key]
    return _without_tables(part) if key in _AROUND else _json(bytes(part))


def _bounded(read: Callable[[int], bytes]) -> bytes:
    content = read(MAX_RESULTS + 1)
    if len(content) > MAX_RESULTS:
        raise ValueError(f"more than {MAX_RESULTS} bytes")
    return content


def refuse_copies(path: Path, assessment_ids: Sequence[str]) -> None:
    """Raises UsageError if an id comes twice: a copy of a row would count as another assessment."""
    if len(set(assessment_ids)) < len(assessment_ids):
        [(twice, count)] = Counter(assessment_ids).most_common(1)
        raise UsageError(f"{path}: it has {count} rows of one assessment, {shortened(twice, 120)}: keep one of them")


def form_of(path: Path) -> str:
    """The suffix that says how the rows of a results file are written, whether it is compressed or not."""
    return PurePath(path.stem).suffix if path.suffix == COMPRESSED else path.suffix


def chosen_rows(path: Path, assessment_id: str | None) -> list[ResultRow]:
    """The rows of a results file, at least one, or that of an assessment. Raises UsageError."""
    rows = read_rows(path)
    if not rows:
        raise UsageError(f"{path}: the file contains no result")
    if assessment_id is None:
        return rows
    ids = ", ".join(shortened(row.detail.assessment_id, 120) for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    for row in rows:
        if row.detail.assessment_id == assessment_id:
            return [row]
    raise UsageError(f"{path}: the file has no assessment {assessment_id!r}, only: {ids}")
