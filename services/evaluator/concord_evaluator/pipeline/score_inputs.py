"""The inputs of a live trial's score: its graded answers, and the messages between seats that the gateway carried.

This module reads no report of a participant, so the score survives an evaluation that fails or is flooded.
"""

from collections.abc import Sequence

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import Grading, MetricStatus, StepCounts, TraceIntegrity, TrialOutcome
from concord.assessment.suite_tasks import instance_of
from concord.trace.report import ReportBatch
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.information.record import team_task_record
from concord_evaluator.scorers import grade_answers
from concord_evaluator.scorers.family_scorer import grade_team_task


def graded(plan: AssessmentPlan, outcome: TrialOutcome) -> Grading | None:
    """The grading of the answers by the task's scorer. None for a trial that is not live, or has no scorer in code."""
    if plan.mode is not Mode.LIVE:
        return None
    task = plan.task(plan.trial(outcome.trial_id).task_id)
    if task.family is not None:
        return grade_team_task(task.family.name, instance_of(plan, plan.trial(outcome.trial_id)), outcome)
    try:
        return grade_answers(task, answerers(plan, outcome.trial_id), outcome)
    except Exception as error:
        # Answers may be hostile. An answer that crashes a scorer must not cost the trial its evaluation.
        name = None if task.scorer is None else task.scorer.name
        return Grading(value=None, source="nobody", scorer=name, reason=f"the scorer failed: {type(error).__name__}")


def answerers(plan: AssessmentPlan, trial_id: str) -> list[str]:
    """The participants, or seats of a family's task, whose answers to a trial's task are graded."""
    trial = plan.trial(trial_id)
    if plan.task(trial.task_id).family is not None:
        return list(instance_of(plan, trial).answerers)
    return plan.answerers(trial.task_id)


def without_metrics(
    plan: AssessmentPlan, outcome: TrialOutcome, observed: Sequence[ReportBatch], reason: str
) -> TrialEvaluation:
    """The evaluation of a trial whose trace could not be evaluated: only the inputs of its score. `observed`: the
    batches that the gateway wrote."""
    message = f"{outcome.trial_id} has no metrics: {reason}"
    return TrialEvaluation(
        outcome=outcome,
        grading=graded(plan, outcome),
        team_task=team_task_record(plan, outcome, observed),
        metrics=[],
        findings=[],
        structure=None,
        call_tally=None,
        calls=[],
        calls_omitted=0,
        latency=None,
        latencies=[],
        agents=[],
        interactions=[],
        steps=StepCounts(),
        trace_integrity=TraceIntegrity(),
        coordination_status=MetricStatus.UNDEFINED,
        failure=InfrastructureFailure(trial_id=outcome.trial_id, stage="evaluation", message=message),
        warnings=[message],
    )
