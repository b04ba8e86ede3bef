"""Results as tables: a record for each row, trial, call or message of results files.

    frame = pandas.DataFrame(concord.rows.read(["results.json"], of="trials"))

The records serve as well for `polars.DataFrame` and `pyarrow.Table.from_pylist`.
"""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path, PurePath
from typing import IO, Final, Literal, TypeAlias

import msgspec
from pydantic_core import from_json

from concord.assessment.outcome import outcome_of
from concord.assessment.result_row import Figure, ResultRow, ResultsDocument
from concord.assessment.results import TrialRecord
from concord.assessment.verdict_text import deed_text
from concord.files import open_regular

Cell: TypeAlias = str | float | bool | None
Line: TypeAlias = dict[str, Cell]
Records: TypeAlias = Literal["rows", "trials", "calls", "messages"]


def read(results: Iterable[Path | str], of: Records = "rows") -> list[Line]:
    """The records of results files (`.json`, `.jsonl`, also with `.gz`), one for each row, trial, call or message.

    All have the same columns, those of `concord rows`; None is what is not known. Raises OSError for a file that cannot
    be read, ValueError for one without results.
    """
    rows = (row for path in results for row in results_in(Path(path), tables=of != "rows"))
    return list(lines_of(rows, of))


# The lines of a table.


def lines_of(rows: Iterable[ResultRow], of: str) -> Iterator[Line]:
    """The lines of `rows`, `trials`, `calls` or `messages`. All lines of a table have the same columns."""
    return (line for row in rows for line in _LINES[of](row))


def _row(row: ResultRow) -> Iterator[Line]:
    detail = row.detail
    scoring, statistics, cost = detail.scoring, detail.statistics, detail.cost
    yield {
        "assessment": detail.assessment_id,
        "started_at": _moment(detail.started_at),
        "mode": detail.mode.value,
        "score": row.score,
        "score_low": statistics.score_low,
        "score_high": statistics.score_high,
        "max_score": row.max_score,
        "pass_rate": row.pass_rate,
        "verdict": outcome_of(row),
        "passed": None if detail.verdict is None else detail.verdict.passed,
        "trials": statistics.trials,
        "tasks": statistics.scenarios,
        "unjudged": scoring.unjudged,
        "complete": scoring.complete,
        "scoring_version": scoring.version,
        "ranking_kind": scoring.ranking_kind,
        "information": _value(scoring.information),
        "economy": _value(scoring.economy),
        "lift": None if scoring.lift is None else scoring.lift.gap,
        "coordination": detail.coordination_quality,
        "confidence": detail.confidence,
        "agents": len(detail.agents),
        "seconds": row.time_used,
        "latency_avg_ms": detail.latency_metrics.avg,
        "tokens": None if cost is None else cost.tokens,
        "money": None if cost is None else cost.money,
        "currency": None if cost is None else cost.currency,
        "warnings": len(detail.warnings),
    }


def _trials(row: ResultRow) -> Iterator[Line]:
    for trial in row.detail.trials:
        parts = {part.id: part.value for part in trial.sub_scores}
        yield {
            **_of_trial(row, trial),
            "task": trial.task_id,
            "run": trial.run,
            "seed": trial.seed,
            "puzzle": trial.instance_digest,
            "trace": trial.trace_id,
            "state": trial.state,
            "usable": trial.usable,
            "control": trial.is_control,
            "verdict": outcome_of(trial),
            "passed": trial.passed,
            "score": trial.overall_score,
            "outcome": parts.get("outcome"),
            "proven": parts.get("proven"),
            "coordination": trial.coordination_value,
            "seconds": trial.time_used,
            "agent_steps": trial.steps.agent,
            "tool_steps": trial.steps.tool,
            "latency_avg_ms": trial.latency.avg,
            "causes": "; ".join(deed_text(cause) for cause in trial.causes),
            "error": trial.error,
            "answer": trial.answer,
        }


def _calls(row: ResultRow) -> Iterator[Line]:
    for trial in row.detail.trials:
        for call in trial.calls:
            yield {**_of_trial(row, trial), **call.model_dump(mode="json")}


def _messages(row: ResultRow) -> Iterator[Line]:
    for trial in row.detail.trials:
        for said in () if trial.work is None else trial.work.said:
            yield {**_of_trial(row, trial), **said.model_dump(mode="json")}


def _of_trial(row: ResultRow, trial: TrialRecord) -> Line:
    return {"assessment": row.detail.assessment_id, "trial": trial.trial_id}


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


_LINES: Final[Mapping[str, Callable[[ResultRow], Iterator[Line]]]] = {
    "rows": _row,
    "trials": _trials,
    "calls": _calls,
    "messages": _messages,
}


# Results files.

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


def results_in(path: Path, *, tables: bool = True) -> Iterator[ResultRow]:
    """The rows of a results file, as they are read; without `tables`, they have none, and these are not checked.

    Raises OSError, also for damaged compressed data; EOFError or zlib.error if these are cut; ValueError.
    """
    with open_regular(path) as raw, gzip.open(raw) if path.suffix == COMPRESSED else nullcontext(raw) as file:
        yield from _rows(file, form_of(path), _json if tables else _json_without_tables)


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


def form_of(path: Path) -> str:
    """The suffix that says how the rows of a results file are written, whether it is compressed or not."""
    return PurePath(path.stem).suffix if path.suffix == COMPRESSED else path.suffix
