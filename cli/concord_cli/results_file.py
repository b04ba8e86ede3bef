"""Results files: the document that the platform's client writes and that other commands read."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue, ValidationError

from concord.assessment import Mode
from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.files import open_regular
from concord.rows import results_in
from concord_cli.display_text import shortened
from concord_cli.errors import UsageError
from concord_cli.input_files import reasons
from concord_cli.output_files import write_text


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
        for row in results_in(path, tables=tables):
            if row.detail.mode is not Mode.RECORDED:  # equal traces have equal rows
                seen.append(row.detail.assessment_id)
            yield row
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"{path}: the compressed data is damaged: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        _refuse_trace(path)
        why = reasons(error) if isinstance(error, ValidationError) else str(error)
        raise UsageError(f"{path}: not a results file of Concord: {shortened(why, 300)}") from error
    refuse_copies(path, seen)


def _refuse_trace(path: Path) -> None:
    """Raises UsageError for a trace, which names the command that makes results of it."""
    from concord_evaluator.formats import Source, recognised_by

    with suppress(OSError, ValueError), open_regular(path) as file:
        if recognised_by(Source(str(path), file).head):
            raise UsageError(f"{path}: a trace, not results: run `concord evaluate {path} -o results.json` first")


def refuse_copies(path: Path, assessment_ids: Sequence[str]) -> None:
    """Raises UsageError if an id comes twice: a copy of a row would count as another assessment."""
    if len(set(assessment_ids)) < len(assessment_ids):
        [(twice, count)] = Counter(assessment_ids).most_common(1)
        raise UsageError(f"{path}: it has {count} rows of one assessment, {shortened(twice, 120)}: keep one of them")


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
