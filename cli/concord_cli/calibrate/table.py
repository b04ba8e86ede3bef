"""What a calibration publishes: a line for each model, as JSON and as a table in Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from concord.assessment.result_row import Figure, ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import Estimate
from concord_cli.number_text import NONE, count


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(_Record):
    """A model's result. Score from 0 to 100; other figures from 0 to 1, and gaps from -1 to 1. Null: unknown."""

    name: str
    model: str
    settings_sha256: str
    results: str
    """The results file, relative to the calibration."""
    error: str | None = None
    """Why there is no row; the figures are then null."""
    manifest: str | None = None
    """The published manifest that was played as a whole; null for other tasks."""
    ranking_kind: str | None = None
    started_at: datetime | None = None
    trials: int | None = None
    """Usable ones, without controls."""
    score: Estimate | None = None
    information: Estimate | None = None
    economy: Estimate | None = None
    solo: Estimate | None = None
    """The team's outcome minus that of one seat with all briefs."""
    silent: Estimate | None = None
    """The team's outcome minus that of the team without a channel."""
    model_calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    currency: str | None = None
    incomplete: bool = False
    """Whether some planned trials have no evaluation, for no fault of the model."""
    failed_trials: int = 0
    """Trials in which the model's endpoint failed or was too slow in a turn. They count as any other, so that a score
    with many of them is one of the endpoint."""


class Calibration(_Record):
    """The results of all models so far, in the order of their file. All played the same tasks."""

    version: Literal[1] = 1
    task_secret_sha256: str | None = None
    entries: list[Entry] = []


def figures_of(row: ResultRow) -> dict[str, Any]:
    """What a row says in a model's line."""
    detail, scoring, cost, statistics = row.detail, row.detail.scoring, row.detail.cost, row.detail.statistics
    parts = scoring.ranking_parts
    gaps = {each.control: _estimate(each.gap, each.gap_low, each.gap_high) for each in detail.controls}
    return {
        "manifest": parts.tasks if parts is not None and parts.published else None,
        "ranking_kind": scoring.ranking_kind,
        "started_at": detail.started_at,
        "trials": scoring.usable_trials,
        "score": _estimate(row.score, statistics.score_low, statistics.score_high),
        "information": _figure(scoring.information),
        "economy": _figure(scoring.economy),
        "solo": gaps.get("solo"),
        "silent": gaps.get("silent"),
        **({} if cost is None else {"model_calls": cost.model_calls, "tokens": cost.tokens, "money": cost.money}),
        "currency": None if cost is None or cost.money is None else cost.currency,
        "incomplete": not scoring.complete,
        "failed_trials": sum(_failed(each) for each in detail.trials),
    }


def _failed(trial: TrialRecord) -> bool:
    task = trial.team_task
    return task is not None and any(each.cause == "agent_failed" for each in task.failures)


def _figure(figure: Figure | None) -> Estimate | None:
    return None if figure is None else _estimate(figure.value, figure.low, figure.high)


def _estimate(value: float | None, low: float | None, high: float | None) -> Estimate | None:
    return None if value is None else Estimate(value=value, low=low, high=high)


_HEAD: Final = (
    *("Model", "Tasks", "Trials", "Score", "Information", "Economy"),
    *("Minus solo", "Minus silent", "Model calls", "Tokens", "Cost"),
)


def markdown(calibration: Calibration) -> str:
    """The table, best score first. A model without a score comes last, with the reason."""
    ranked = sorted(
        calibration.entries, key=lambda each: -1.0 if each.score is None else each.score.value, reverse=True
    )
    lines = [_line(_HEAD), _line(["---"] * 2 + ["---:"] * (len(_HEAD) - 2)), *(_line(_cells(each)) for each in ranked)]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(each.replace('|', '/').replace(chr(10), ' ') for each in cells)} |"


def _cells(entry: Entry) -> Sequence[str]:
    shown = f"{entry.name} ({entry.model})" if entry.name != entry.model else entry.name
    if entry.error is not None:
        return [shown, f"no row: {entry.error}", *[NONE] * (len(_HEAD) - 2)]
    return [
        shown + "".join(_remarks(entry)),
        entry.manifest or "not a manifest",
        count(entry.trials),
        _interval(entry.score, 1),
        _interval(entry.information, 2),
        _interval(entry.economy, 2),
        _interval(entry.solo, 2),
        _interval(entry.silent, 2),
        count(entry.model_calls),
        count(entry.tokens),
        NONE if entry.money is None else f"{entry.money:.4g} {entry.currency}",
    ]


def _remarks(entry: Entry) -> Iterator[str]:
    if entry.incomplete:
        yield ", incomplete"
    if entry.failed_trials:
        yield f", failed in {entry.failed_trials} trials"


def _interval(interval: Estimate | None, digits: int) -> str:
    if interval is None:
        return NONE
    value = f"{interval.value:.{digits}f}"
    if interval.low is None or interval.high is None:
        return value
    return f"{value} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"
