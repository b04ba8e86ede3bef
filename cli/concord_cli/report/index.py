"""`concord report --index`: the runs in a folder of results as one page, in which two of them can be compared."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Final
from urllib.parse import quote

from concord.assessment.result_row import Figure, ResultRow, Scoring
from concord.assessment.verdict_text import deed_text
from concord.files import open_regular
from concord_cli.display_text import on_one_line, shortened
from concord_cli.errors import UsageError
from concord_cli.number_text import percent
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.report.renderer import render_document
from concord_cli.results_file import rows_in
from concord_cli.row_view.head import Head, date_text, head_of
from concord_cli.row_view.scope import scope_of
from concord_cli.row_view.table import Cell, Column, number_columns, table_of

INDEX: Final = "index.html"

MAX_RUNS: Final = 500
"""Limit of the runs on the page, the latest ones."""

_HEAD_BYTES: Final = 4096

_KEYS: Final = {".json": (b'"participants"', b'"results"'), ".jsonl": (b'"pass_rate"', b'"task_rewards"')}
"""The keys near the start of a results file, by its suffix."""

MAX_NAME: Final = 24
"""Characters of a name in the chart; the whole one is in its label."""

FEWEST: Final = 2
"""One run has nothing to be compared with."""

_COLUMNS: Final = (
    *(Column("Date"), Column("Run", "head"), Column("Team"), Column("Tasks"), Column("Score", "number")),
    *(Column("0 to 100, with its 95 % interval", "scale"), Column("Verdict"), Column("What cost most")),
    *number_columns("Time"),
)


def write_index(folder: Path, output: Path | None) -> tuple[Path, list[str]]:
    """Writes the index of the runs in a folder, by default as `index.html` in it.

    Returns its path, and a line for each results file that cannot be read. Raises UsageError for a folder without
    results; AssessmentError if the page cannot be written.
    """
    path = folder / INDEX if output is None else output
    found = find_runs(folder, path.parent)
    page = render_document(
        "index.html.j2",
        ("report.css", "index.css"),
        "index.js",
        folder=folder.resolve().name or str(folder),
        table_of_runs=table_of("All runs", _COLUMNS, (run.line for run in found.runs), kind="runs"),
        data=[run.parts for run in found.runs],
        costs=cost_chart(found.runs),
        left_out=found.left_out,
        most=MAX_RUNS,
        unreadable=found.unreadable,
    )
    prepare_folder(path)
    write_text(path, page)
    return path, list(found.unreadable)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows of a run, whose row is let go: hundreds of rows take gigabytes.

    `line`: the cells of its line; `parts`: what the page compares. `cost`: that of a trial and its currency, None for
    agents that do not tell it.
    """

    file: Path
    started_at: datetime | None
    line: tuple[Cell, ...]
    parts: Mapping[str, object]
    score: float | None
    max_score: float
    cost: tuple[float, str] | None


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a folder, the latest first. `unreadable`: a line for each results file that cannot be read."""

    runs: Sequence[Shown]
    left_out: int
    unreadable: Sequence[str]


def find_runs(folder: Path, index_folder: Path) -> Runs:
    """Reads all results files below a folder, without hidden ones, for an index in `index_folder`.

    A run that several files have is listed once: rows of one assessment that differ in nothing but tables, which no
    index shows, are one.

    Raises UsageError if the folder cannot be read or has no results.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: not a folder")
    found: dict[tuple[str, bytes], Shown] = {}
    unreadable = []
    for file in _results_files(folder):
        try:
            rows = rows_in(folder / file, tables=False)
            of_file = {_identity(row): shown(file, row, folder, index_folder) for row in rows}
        except UsageError as error:
            unreadable.append(on_one_line(str(error)))
            continue
        # `output/results.json` is a copy of the latest file in `output/assessments`, and has the shorter name.
        for identity, run in of_file.items():
            found.setdefault(identity, run)
    if not found:
        raise UsageError(f"{folder}: no results file found" + "".join(f"\n{line}" for line in unreadable))
    dated = sorted(found.values(), key=lambda run: str(run.file))
    dated.sort(key=lambda run: run.started_at.timestamp() if run.started_at else float("-inf"), reverse=True)
    return Runs(dated[:MAX_RUNS], max(0, len(dated) - MAX_RUNS), unreadable)


def _identity(row: ResultRow) -> tuple[str, bytes]:
    return row.detail.assessment_id, sha256(row.model_dump_json().encode()).digest()


def shown(file: Path, row: ResultRow, folder: Path, index_folder: Path) -> Shown:
    """What an index in `index_folder` shows of a row of a file in `folder`."""
    cost = row.detail.cost
    told = None if cost is None or cost.per_trial is None or cost.currency is None else (cost.per_trial, cost.currency)
    return Shown(
        file=file,
        started_at=row.detail.started_at,
        line=line_of(file, row, folder, index_folder),
        parts=comparable(file, row),
        score=row.score,
        max_score=row.max_score,
        cost=told,
    )


def line_of(file: Path, row: ResultRow, folder: Path, index_folder: Path) -> tuple[Cell, ...]:
    """The line of a row of a file, for an index in `index_folder`: with a link to its report, if there is one."""
    head, page = head_of(scope_of(row)), folder / file.with_suffix(".html")
    name, verdict = _name_of(file, row), row.detail.verdict
    report = ((name, quote(os.path.relpath(page, index_folder))),) if page.is_file() else ()
    passed = "" if verdict is None else f"{verdict.trials_passed:,} of {verdict.trials:,}"
    return (
        Cell(head.date or "undated", kind="date"),
        Cell("" if report else name, on_one_line(row.detail.assessment_id)[:8], links=report),
        Cell(head.team),
        Cell(head.tasks),
        Cell(head.score or "no score"),
        _scale(row, head),
        Cell(head.outcome, passed, kind=f"outcome-{head.outcome.lower().replace(' ', '-')}"),
        Cell(next(iter(_causes(row)), "")),
        Cell(head.time_used),
    )


def _scale(row: ResultRow, head: Head) -> Cell:
    """The score and its interval as bars on a scale from 0 to 100."""
    if head.score is None:
        return Cell("")
    bars = [("track", 0.0, 1.0), ("fill", 0.0, (row.score or 0.0) / row.max_score if row.max_score else 0.0)]
    low, high = row.detail.statistics.score_low, row.detail.statistics.score_high
    if low is not None and high is not None:
        bars.append(("interval", max(0.0, low) / 100, max(0.0, high - low) / 100))
    label = head.score if head.interval is None else f"{head.score}, {head.interval}"
    return Cell("", aside=head.interval or "", bars=tuple(bars), about=label)


def comparable(file: Path, row: ResultRow) -> Mapping[str, object]:
    """The parts of a row that the page compares, as JSON."""
    detail = row.detail
    parts = {part.id: part.value for part in detail.scoring.sub_scores}
    return {
        "name": _name_of(file, row),
        "file": file.as_posix(),
        "date": date_text(detail.started_at) or "undated",
        "kind": _kind_of(detail.scoring),
        "score": row.score,
        "figures": [
            ["Outcome", parts.get("outcome")],
            ["Proven", parts.get("proven")],
            ["Information", _value(detail.scoring.information)],
            ["Economy", _value(detail.scoring.economy)],
            ["Lift", None if detail.scoring.lift is None else detail.scoring.lift.gap],
            ["Pass rate", row.pass_rate],
            ["Seconds", round(min(row.time_used, 1e300), 2)],
            ["Tokens (claimed)", None if detail.cost is None else detail.cost.tokens],
            ["Cost of a trial (claimed)", None if detail.cost is None else detail.cost.per_trial],
        ],
        "interval": [detail.statistics.score_low, detail.statistics.score_high],
        "tasks": dict(_scores(row)),
        "causes": _causes(row),
    }


def _causes(row: ResultRow) -> list[str]:
    """What cost points, in a few words each, what cost the most first."""
    causes = [] if row.detail.verdict is None else row.detail.verdict.causes
    return list(dict.fromkeys(on_one_line(deed_text(cause)) for cause in causes))


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value


def _name_of(file: Path, row: ResultRow) -> str:
    """The file's path, and the assessment in a file of several rows."""
    name = file.as_posix()
    return on_one_line(f"{name}: {row.detail.assessment_id}" if file.suffix == ".jsonl" else name)


def _kind_of(scoring: Scoring) -> str:
    """What two runs have in common whose scores can be compared, as in `concord compare`."""
    ranking = scoring.ranking_parts
    digest = "" if ranking is None else f", kind {ranking.model_copy(update={'complete': True}).digest}"
    return f"version {on_one_line(scoring.version)}, {scoring.basis}{digest}"


def _scores(row: ResultRow) -> Iterator[tuple[str, float]]:
    """The mean score of each task, 0 for trials without one."""
    by_task: defaultdict[str, list[float]] = defaultdict(list)
    for trial in row.detail.trials:
        if trial.usable and not trial.is_control:
            by_task[on_one_line(trial.task_id)].append(trial.overall_score or 0.0)
    return ((task, round(fmean(scores), 4)) for task, scores in by_task.items())


def _results_files(folder: Path) -> list[Path]:
    """The files that look like results, relative to the folder, those with the shortest paths first."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(root, name) for name in names if not name.startswith("."))
        found += [path.relative_to(folder) for path in paths if _looks_like_results(path)]
    return sorted(found, key=lambda path: (len(path.parts), str(path)))


def _looks_like_results(path: Path) -> bool:
    keys = _KEYS.get(path.suffix)
    if keys is None:
        return False
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return keys[0] in head and (keys[1] in head or len(head) == _HEAD_BYTES)


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A run: its place in shares of the chart, from the left and from the top, its name, and what it is.

    `leftward`: whether the name stands to the left, because there is no room to the right.
    """

    x: str
    y: str
    name: str
    leftward: bool
    label: str


@dataclass(frozen=True, slots=True)
class CostChart:
    """The runs with a score and a cost in the commonest currency. `most`: the cost at the right end."""

    points: Sequence[CostPoint]
    currency: str
    most: str
    left_out: int


def cost_chart(runs: Sequence[Shown]) -> CostChart | None:
    """The chart; None for fewer than `FEWEST` runs that tell their cost."""
    known = [(run, *run.cost) for run in runs if run.cost is not None]
    if not known:
        return None
    [(currency, _)] = Counter(currency for _, _, currency in known).most_common(1)
    shown = [(run, money, run.score) for run, money, of in known if of == currency and run.score is not None]
    most = max((money for _, money, _ in shown), default=0.0)
    if len(shown) < FEWEST or not most:
        return None
    points = [
        CostPoint(
            x=percent(money / most),
            y=percent(1 - score / run.max_score),
            name=shortened(on_one_line(run.file.stem), MAX_NAME),
            leftward=money > most / 2,
            label=f"{on_one_line(run.file.as_posix())}: score {score:.1f}, {money:.3g} {currency} a trial",
        )
        for run, money, score in shown
    ]
    return CostChart(points, currency, f"{most:.3g}", len(runs) - len(shown))
