"""The scope of a report, a whole row or one of its trials, in one form."""

from dataclasses import dataclass

from concord.assessment.result_row import AgentRecord, ResultRow
from concord.assessment.results import (
    Finding,
    Judgment,
    LatencySummary,
    MetricRecord,
    MetricStatus,
    Quality,
    SubScore,
    TraceIntegrity,
    TrialRecord,
)
from concord_cli.display_text import shortened
from concord_cli.errors import UsageError
from concord_cli.row_view.score import Rating, rating_of, rating_of_trial


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a row that a report shows. `trial_id` is None for the whole row."""

    row: ResultRow
    trial_id: str | None
    rating: Rating
    quality: Quality | None
    coordination_status: MetricStatus
    time_used: float
    sub_scores: list[SubScore]
    findings: list[Finding]
    metrics: list[MetricRecord]
    latency: LatencySummary
    integrity: TraceIntegrity
    judge: Judgment | None
    trials: list[TrialRecord]
    agents: list[AgentRecord]


def scope_of(row: ResultRow, trial_id: str | None = None) -> Scope:
    """The whole row, or its trial with this id. Raises UsageError if there is no such trial."""
    if trial_id is None:
        return _whole(row)
    trial = next((trial for trial in row.detail.trials if trial.trial_id == trial_id), None)
    if trial is None:
        known = ", ".join(shortened(each.trial_id, 40) for each in row.detail.trials[:10]) or "none"
        more = f" and {len(row.detail.trials) - 10} more" if len(row.detail.trials) > 10 else ""
        raise UsageError(f"the result has no trial {trial_id!r}, only: {known}{more}")
    return _one_trial(row, trial)


def _whole(row: ResultRow) -> Scope:
    detail = row.detail
    return Scope(
        row=row,
        trial_id=None,
        rating=rating_of(row),
        quality=detail.coordination_quality,
        coordination_status=detail.coordination_status,
        time_used=row.time_used,
        sub_scores=detail.scoring.sub_scores,
        findings=detail.findings,
        metrics=detail.metrics,
        latency=detail.latency_metrics,
        integrity=detail.trace_integrity,
        judge=detail.judge,
        trials=detail.trials,
        agents=detail.agents,
    )


def _one_trial(row: ResultRow, trial: TrialRecord) -> Scope:
    return Scope(
        row=row,
        trial_id=trial.trial_id,
        rating=rating_of_trial(row, trial),
        quality=trial.coordination_quality,
        coordination_status=trial.coordination_status,
        time_used=trial.time_used,
        sub_scores=trial.sub_scores,
        findings=trial.findings,
        metrics=trial.metrics,
        latency=trial.latency,
        integrity=trial.trace_integrity,
        judge=trial.judge,
        trials=[trial],
        agents=row.detail.agents,
    )
