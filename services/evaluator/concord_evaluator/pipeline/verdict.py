"""The verdict on a trial: judged, scored, and in the form that the row shows."""

from concord.assessment import AssessmentPlan
from concord.results import Judgment, LatencySummary, TrialRecord
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.scoring import score


def verdict_on(plan: AssessmentPlan, evaluation: TrialEvaluation, judgment: Judgment | None) -> JudgedTrial:
    """Scores an evaluated trial (None: nobody was asked to judge it). Raises KeyError for one not in the plan.

    A trial that failed for a fault of the infrastructure is shown, but neither passed nor failed.
    """
    outcome, structure = evaluation.outcome, evaluation.structure
    trial = plan.trial(outcome.trial_id)
    success = None if judgment is None else judgment.task_success
    scored = score(structure, evaluation.calls, success, plan.config.weights)
    usable = not outcome.infrastructure
    passed = None
    if usable and scored.overall is not None:
        passed = scored.overall >= plan.config.thresholds.passing
    record = TrialRecord(
        trial_id=trial.trial_id,
        task_id=trial.task_id,
        run=trial.run,
        seed=trial.seed,
        trace_id=trial.trace_id,
        state=outcome.state,
        error=outcome.error,
        answer=outcome.answer,
        time_used=outcome.time_used,
        usable=usable,
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
    return JudgedTrial(
        state="evaluated",
        record=record,
        structure=structure,
        latencies=tuple(evaluation.latencies),
        agents=tuple(evaluation.agents),
        warnings=tuple(evaluation.warnings),
    )
