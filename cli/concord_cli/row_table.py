"""Results as a table: a line for each row, trial, call or message, as CSV, JSON or Parquet."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Final, TypeAlias

from concord.assessment.result_row import Figure, ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict_text import deed_text
from concord_cli.errors import UsageError
from concord_cli.output_files import output_file
from concord_cli.results_file import rows_in
from concord_cli.row_view.outcome import outcome_of

Cell: TypeAlias = str | float | bool | None
Line: TypeAlias = dict[str, Cell]


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


def write_table(results: Sequence[Path], of: str, output: Path | None, *, as_json: bool) -> None:
    """Writes the table of results files into a file, or prints it. Raises UsageError, AssessmentError."""
    form = ".jsonl" if as_json else ".csv" if output is None else output.suffix
    if form not in _WRITERS or (output is not None and as_json):
        raise UsageError(f"{output}: the name of the file says its form: {', '.join(_WRITERS)}")
    rows = (row for path in results for row in rows_in(path, tables=of != "rows"))
    lines = lines_of(rows, of)
    if output is not None:
        with output_file(output) as file:
            _WRITERS[form](lines, file)
    else:
        _WRITERS[form](lines, sys.stdout.buffer)


def _write_csv(lines: Iterator[Line], file: IO[bytes]) -> None:
    """An empty cell for what is not known."""
    out, first = _Text(file), next(lines, None)
    if first is None:
        return
    writer = csv.DictWriter(out, list(first), lineterminator="\n")
    writer.writeheader()
    writer.writerow(_for_spreadsheets(first))
    writer.writerows(map(_for_spreadsheets, lines))


class _Text:
    """A binary file, to which text is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Writes text as UTF-8; half a surrogate pair as `?`."""
        self._file.write(text.encode(errors="replace"))


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def _for_spreadsheets(line: Line) -> Line:
    """The line with an apostrophe before texts of agents that a spreadsheet would compute (OWASP, CSV injection)."""
    return {
        name: f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for name, cell in line.items()
    }


def _write_json(lines: Iterator[Line], file: IO[bytes]) -> None:
    file.write(json.dumps(list(lines), indent=2).encode() + b"\n")


def _write_json_lines(lines: Iterator[Line], file: IO[bytes]) -> None:
    for line in lines:
        file.write(json.dumps(line).encode() + b"\n")


def _write_parquet(lines: Iterator[Line], file: IO[bytes]) -> None:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(lines)), file)


_WRITERS: Final[Mapping[str, Callable[[Iterator[Line], IO[bytes]], None]]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}
