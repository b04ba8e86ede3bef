"""The runs in a folder of results files, in the form in which the index lists and compares them."""

import os
from collections import defaultdict
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
from concord_cli.display_text import on_one_line
from concord_cli.errors import UsageError
from concord_cli.number_text import percent
from concord_cli.results_file import rows_in
from concord_cli.row_view.head import head_of
from concord_cli.row_view.scope import scope_of
from concord_cli.row_view.subject import date_text

MAX_RUNS: Final = 500
"""Limit of the runs on the page, the latest ones."""

_HEAD_BYTES: Final = 4096

_KEYS: Final = {".json": (b'"participants"', b'"results"'), ".jsonl": (b'"pass_rate"', b'"task_rewards"')}
"""The keys near the start of a results file, by its suffix."""


@dataclass(frozen=True, slots=True)
class Run:
    """A row, and the path of its file relative to the folder."""

    file: Path
    row: ResultRow

    @property
    def started_at(self) -> datetime | None:
        """When the assessment was planned, or the recorded trace began."""
        return self.row.detail.started_at


@dataclass(frozen=True, slots=True)
class RunLine:
    """A line of the index, safe to display.

    `assessment`: the start of its id, which tells runs of one file name apart. `low`, `span`: the interval in shares of
    the scale, or empty. `report`: the path of the run's report, if there is one. `cause`: what cost the most points.
    """

    date: str
    name: str
    assessment: str
    report: str | None
    team: str
    tasks: str
    score: str | None
    at: str
    low: str
    span: str
    interval: str
    verdict: str
    passed: str
    cause: str
    time: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows of a run, whose row is let go: hundreds of rows take gigabytes.

    `parts`: what the page compares. `cost`: that of a trial and its currency, None for agents that do not tell it.
    """

    file: Path
    started_at: datetime | None
    line: RunLine
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
            of_file = {_identity(row): shown(Run(file, row), folder, index_folder) for row in rows}
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


def shown(run: Run, folder: Path, index_folder: Path) -> Shown:
    """What an index in `index_folder` shows of a run in `folder`."""
    cost = run.row.detail.cost
    told = None if cost is None or cost.per_trial is None or cost.currency is None else (cost.per_trial, cost.currency)
    return Shown(
        file=run.file,
        started_at=run.started_at,
        line=line_of(run, folder, index_folder),
        parts=comparable(run),
        score=run.row.score,
        max_score=run.row.max_score,
        cost=told,
    )


def line_of(run: Run, folder: Path, index_folder: Path) -> RunLine:
    """The line of a run in `folder`, for an index in `index_folder`."""
    row, detail = run.row, run.row.detail
    head, page = head_of(scope_of(row)), folder / run.file.with_suffix(".html")
    low, high = detail.statistics.score_low or 0.0, detail.statistics.score_high or 0.0
    return RunLine(
        date=head.date or "undated",
        name=_name_of(run),
        assessment=on_one_line(detail.assessment_id)[:8],
        report=quote(os.path.relpath(page, index_folder)) if page.is_file() else None,
        team=head.team,
        tasks=head.tasks,
        score=head.score,
        at=percent((row.score or 0.0) / row.max_score) if row.max_score else "0%",
        low="" if head.interval is None else percent(max(0.0, low) / 100),
        span="" if head.interval is None else percent(max(0.0, high - low) / 100),
        interval=head.interval or "",
        verdict=head.outcome,
        passed="" if detail.verdict is None else f"{detail.verdict.trials_passed:,} of {detail.verdict.trials:,}",
        cause=next(iter(_causes(row)), ""),
        time=head.time_used,
    )


def comparable(run: Run) -> Mapping[str, object]:
    """The parts of a run that the page compares, as JSON."""
    row, detail = run.row, run.row.detail
    parts = {part.id: part.value for part in detail.scoring.sub_scores}
    return {
        "name": _name_of(run),
        "file": run.file.as_posix(),
        "date": date_text(run.started_at) or "undated",
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


def _name_of(run: Run) -> str:
    """The file's path, and the assessment in a file of several rows."""
    name = run.file.as_posix()
    return on_one_line(f"{name}: {run.row.detail.assessment_id}" if run.file.suffix == ".jsonl" else name)


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
