"""The trials of an assessment that are known: those that were judged, and those that the participants lost."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from concord.assessment import AssessmentPlan, TrialSpec
from concord.assessment.jobs import TrialVerdict
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import (
    Grading,
    LatencySummary,
    MetricStatus,
    StepCounts,
    TraceIntegrity,
    TrialRecord,
)
from concord.assessment.suite_tasks import instance_digest
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.scoring import score_outcome


def judged_trials(plan: AssessmentPlan, verdicts: Iterable[TrialVerdict]) -> list[JudgedTrial]:
    """The trials that have a record, in the order of the plan."""
    return in_order(plan, (verdict for verdict in verdicts if isinstance(verdict, JudgedTrial)))


def forfeited_trials(
    plan: AssessmentPlan, judged: Sequence[JudgedTrial], failures: Iterable[InfrastructureFailure]
) -> list[JudgedTrial]:
    """The planned trials that the participants themselves lost. Each has the outcome 0, and nothing else is known."""
    known = {trial.record.trial_id for trial in judged}
    lost = {each.trial_id: each for each in failures if each.caused_by == "participants"}
    return [
        JudgedTrial(record=_forfeited(plan, trial, lost[trial.trial_id]))
        for trial in plan.trials
        if trial.trial_id in lost and trial.trial_id not in known
    ]


def in_order(plan: AssessmentPlan, trials: Iterable[JudgedTrial]) -> list[JudgedTrial]:
    """The trials in the order of the plan."""
    by_id = {trial.record.trial_id: trial for trial in trials}
    return [by_id[trial.trial_id] for trial in plan.trials if trial.trial_id in by_id]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None. None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _forfeited(plan: AssessmentPlan, trial: TrialSpec, failure: InfrastructureFailure) -> TrialRecord:
    reason = f"the participants lost the trial: {failure.message}"
    grading = Grading(value=0, source="code", scorer=None, reason=reason)
    return TrialRecord(
        trial_id=trial.trial_id,
        task_id=trial.task_id,
        run=trial.run,
        seed=trial.seed,
        instance_digest=instance_digest(plan, trial),
        trace_id=trial.trace_id,
        state="failed",
        error=reason,
        answer=None,
        time_used=0,
        usable=True,
        passed=False,
        overall_score=0,
        grading=grading,
        coordination_quality=None,
        coordination_value=None,
        coordination_status=MetricStatus.UNDEFINED,
        sub_scores=list(score_outcome(grading).parts),
        metrics=[],
        findings=[],
        interactions=[],
        latency=LatencySummary(),
        steps=StepCounts(),
        trace_integrity=TraceIntegrity(),
        judge=None,
    )
