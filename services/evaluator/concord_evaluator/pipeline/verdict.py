"""The verdict on a trial: judged, scored, and in the form that the row shows."""

from concord.assessment import AssessmentPlan, TrialSpec
from concord.results import Judgment, LatencySummary, TrialRecord
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.scoring import Score, score


def verdict_on(plan: AssessmentPlan, evaluation: TrialEvaluation, judgment: Judgment | None) -> JudgedTrial:
    """Scores an evaluated trial (None: nobody was asked to judge it). Raises KeyError for one not in the plan."""
    success = None if judgment is None else judgment.task_success
    scored = score(evaluation.structure, evaluation.calls, success, plan.config.weights)
    passed = None
    if scored.overall is not None:
        passed = scored.overall >= plan.config.thresholds.passing
    return JudgedTrial(
        state="evaluated",
        record=_record(plan.trial(evaluation.outcome.trial_id), evaluation, judgment, scored, passed),
        structure=evaluation.structure,
        latencies=tuple(evaluation.latencies),
        agents=tuple(evaluation.agents),
        warnings=tuple(evaluation.warnings),
    )


def _record(
    trial: TrialSpec, evaluation: TrialEvaluation, judgment: Judgment | None, scored: Score, passed: bool | None
) -> TrialRecord:
    outcome, structure = evaluation.outcome, evaluation.structure
    return TrialRecord(
        trial_id=trial.trial_id,
        task_id=trial.task_id,
        run=trial.run,
        seed=trial.seed,
        trace_id=trial.trace_id,
        state=outcome.state,
        error=outcome.error,
        answer=outcome.answer,
        time_used=outcome.time_used,
        usable=True,
        passed=passed,
        overall_score=scored.overall,
        coordination_quality=None if structure is None else structure.coordination_quality,
        coordination_value=None if structure is None else structure.coordination_value,
        sub_scores=list(scored.sub_scores),
        metrics=evaluation.metrics,
        findings=evaluation.findings,
        interactions=evaluation.interactions,
        calls=evaluation.timeline,
        calls_omitted=evaluation.timeline_omitted,
        latency=evaluation.latency or LatencySummary(),
        steps=evaluation.steps,
        trace_integrity=evaluation.trace_integrity,
        judge=judgment,
    )
