"""The verdict on a trial: its grading, its score, and its record in the row."""

from collections.abc import Sequence

from concord.assessment import AssessmentPlan, Mode, TrialSpec
from concord.assessment.observations import MAX_OBSERVATIONS, Observation, ReadStep
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import (
    Grading,
    Judgment,
    LatencySummary,
    MetricStatus,
    TrialOutcome,
    TrialRecord,
)
from concord.assessment.suite_tasks import instance_digest, instance_of
from concord.assessment.verdict import Cause
from concord.trace.report import ReportBatch
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.information.record import team_task_record
from concord_evaluator.observations import tied
from concord_evaluator.pipeline.evaluators import JUDGE
from concord_evaluator.scorers import grade_answers
from concord_evaluator.scorers.registry import grade_team_task
from concord_evaluator.scoring import Score, TeamStructure, score_outcome, score_structure
from concord_evaluator.verdict.trial_causes import cause_of_failure

# The inputs of a live trial's score: its graded answers, and the messages between seats that the gateway carried.
#
# This module reads no report of a participant, so the score survives an evaluation that fails or is flooded.


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
        coordination_status=MetricStatus.UNDEFINED,
        failure=InfrastructureFailure(trial_id=outcome.trial_id, stage="evaluation", message=message),
        warnings=[message],
    )


# The verdict.

NOT_ASKED = "the config excludes the judge"


def verdict_on(
    plan: AssessmentPlan, evaluation: TrialEvaluation, judgment: Judgment | None, recorded: float | None = None
) -> JudgedTrial:
    """Scores an evaluated trial. Raises KeyError for a trial that is not in the plan.

    `judgment`: None if no judge was asked. `recorded`: the outcome that a recorded trace states.
    """
    trial, grading = plan.trial(evaluation.outcome.trial_id), _grading(plan, evaluation, judgment, recorded)
    if grading is None:
        scored = score_structure(evaluation.structure, evaluation.call_tally, plan.config.weights)
    else:
        team_task = evaluation.team_task
        scored = score_outcome(grading, None if team_task is None else team_task.credited)
    passed = _passed(grading, scored, plan.config.thresholds.pass_mark)
    return JudgedTrial(
        record=_record(plan, trial, evaluation, judgment, grading, scored, passed),
        failure=evaluation.failure,
        structure=_labelled(evaluation),
        latencies=evaluation.latencies,
        agents=evaluation.agents,
        warnings=tuple(evaluation.warnings),
    )


def _passed(grading: Grading | None, scored: Score, mark: float) -> bool | None:
    """Whether a trial reaches the mark, and where its grading has a rule of its own, that too. None if unknown."""
    if scored.overall is None:
        return None
    if grading is not None and grading.passed == "unknown":
        return None if max(scored.overall, grading.high or 0.0) >= mark else False
    return scored.overall >= mark and (grading is None or grading.passed != "no")


def _grading(
    plan: AssessmentPlan, evaluation: TrialEvaluation, judgment: Judgment | None, recorded: float | None
) -> Grading | None:
    """The outcome from the first source that has one: the scorer, the judge, the file. None for a given pattern."""
    if plan.mode is Mode.GROUND_TRUTH:
        return None
    if evaluation.grading is not None:
        return evaluation.grading
    if plan.task(plan.trial(evaluation.outcome.trial_id).task_id).scenario is not None:
        return Grading(value=None, source="nobody", scorer="criteria", reason="the criteria were not evaluated")
    if plan.mode is Mode.LIVE and not _answered(plan, evaluation):
        return Grading(value=0, source="code", scorer=None, reason="no graded participant gave an answer")
    if judgment is not None and judgment.task_success is not None:
        by_model = judgment.source == "llm"
        return Grading(
            value=judgment.task_success,
            source="model" if by_model else "code",
            scorer="model" if by_model else None,
            reason=judgment.reason,
            answers=judgment.answers,
        )
    if recorded is not None:
        return Grading(value=recorded, source="recorded", scorer=None, reason=None)
    reason = _why_unjudged(plan, evaluation) if judgment is None else judgment.reason
    return Grading(value=None, source="nobody", scorer=None, reason=reason)


def _why_unjudged(plan: AssessmentPlan, evaluation: TrialEvaluation) -> str:
    if evaluation.failure is not None:
        return f"it could not be judged: {evaluation.failure.message}"
    return "no judge was asked" if JUDGE in plan.config.chosen_evaluators((JUDGE,)) else NOT_ASKED


def _answered(plan: AssessmentPlan, evaluation: TrialEvaluation) -> bool:
    outcome = evaluation.outcome
    counted = set(answerers(plan, outcome.trial_id))
    return any(
        answer.agent in counted and answer.state == "completed" and (answer.text or "").strip()
        for answer in outcome.answers
    )


def _causes(evaluation: TrialEvaluation, scored: Score) -> list[Cause]:
    """The causes of what an own task lost, with their points of that. Empty where nothing was lost, or nobody knows."""
    lost = 0.0 if scored.overall is None else 1 - scored.overall
    return [
        cause.model_copy(update={"points": None if cause.points is None else cause.points * lost})
        for cause in evaluation.causes
        if lost > 0
    ]


def _observed(evaluation: TrialEvaluation, scored: Score, causes: Sequence[Cause]) -> list[Observation]:
    """The observations, tied to lost parts. None of a trial that lost nothing."""
    if scored.overall is not None and scored.overall >= 1:
        return []
    failures = [] if evaluation.team_task is None else evaluation.team_task.failures
    return tied(evaluation.observations, [*causes, *map(cause_of_failure, failures)])


def _reading(evaluation: TrialEvaluation, scored: Score, causes: Sequence[Cause]) -> list[ReadStep]:
    """The reading order of a trial that is known to have lost something, if no cause of that is shown."""
    crashed = evaluation.work is not None and any(each.ended_run for each in evaluation.work.failures)
    explained = bool(causes or crashed or (evaluation.team_task is not None and evaluation.team_task.failures))
    failed = scored.overall is not None and scored.overall < 1
    return list(evaluation.reading) if failed and not explained else []


def _labelled(evaluation: TrialEvaluation) -> TeamStructure | None:
    """The structure, without its coordination label where that does not apply."""
    structure = evaluation.structure
    if structure is None or evaluation.coordination_status is MetricStatus.OK:
        return structure
    return structure.model_copy(update={"coordination_value": None, "coordination_quality": None})


def _record(
    plan: AssessmentPlan,
    trial: TrialSpec,
    evaluation: TrialEvaluation,
    judgment: Judgment | None,
    grading: Grading | None,
    scored: Score,
    passed: bool | None,
) -> TrialRecord:
    outcome, structure, task = evaluation.outcome, _labelled(evaluation), plan.task(trial.task_id)
    record = TrialRecord(
        trial_id=trial.trial_id,
        task_id=trial.task_id,
        run=trial.run,
        seed=trial.seed,
        instance_digest=instance_digest(plan, trial),
        trace_id=trial.trace_id,
        state=outcome.state,
        error=outcome.error,
        answer=outcome.answer,
        time_used=outcome.time_used,
        usable=True,
        passed=passed,
        overall_score=scored.overall,
        grading=grading,
        coordination_quality=None if structure is None else structure.coordination_quality,
        coordination_value=None if structure is None else structure.coordination_value,
        coordination_status=evaluation.coordination_status,
        sub_scores=list(scored.parts),
        metrics=evaluation.metrics,
        findings=evaluation.findings,
        interactions=evaluation.interactions,
        calls=evaluation.calls,
        calls_omitted=evaluation.calls_omitted,
        latency=evaluation.latency or LatencySummary(),
        uses=evaluation.uses,
        steps=evaluation.steps,
        trace_integrity=evaluation.trace_integrity,
        team_task=evaluation.team_task,
        work=evaluation.work,
        control=None if task.control is None else "alone",
        paired_with=task.paired_with,
        judge=judgment,
        network=evaluation.network,
    )
    return _explained(record, evaluation, scored)


def _explained(record: TrialRecord, evaluation: TrialEvaluation, scored: Score) -> TrialRecord:
    """The record with what tells why the trial lost points."""
    causes = _causes(evaluation, scored)
    observed = _observed(evaluation, scored, causes)
    return record.model_copy(
        update={
            "causes": causes,
            "observations": observed[:MAX_OBSERVATIONS],
            "observations_omitted": max(0, len(observed) - MAX_OBSERVATIONS),
            "reading": _reading(evaluation, scored, causes),
        }
    )
