"""The parts of a verdict on a trial that follow from the plan: for the evaluator's jobs, and for `concord verify`."""

from collections.abc import Sequence

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.jobs import TrialVerdict
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import Finding, Grading
from concord_assistant.results import AssessmentResults
from concord_evaluator.criteria import MAX_STORED, grading_of, shortened_results
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.observations import acts_of_actions, observe, tied
from concord_evaluator.pipeline import JUDGE
from concord_evaluator.verdict import lost_parts_of


def has_criteria(plan: AssessmentPlan, trial_id: str) -> bool:
    """Whether a trial is graded by the criteria of a scenario."""
    return plan.task(plan.trial(trial_id).task_id).scenario is not None


def needs_judge(plan: AssessmentPlan, trial_id: str) -> bool:
    """Whether the judge judges a trial: the config asks for it, and the trial is not that of a single assistant."""
    asked = JUDGE in plan.config.chosen_evaluators((JUDGE,))
    return asked and (not has_criteria(plan, trial_id) or len(plan.roster) > 1)


def reads_texts(plan: AssessmentPlan, trial_id: str) -> bool:
    """Whether the judge reads texts of a trial: a given pattern has none."""
    return needs_judge(plan, trial_id) and plan.mode is not Mode.GROUND_TRUTH


def graded_by(results: AssessmentResults, plan: AssessmentPlan, evaluation: TrialEvaluation) -> TrialEvaluation:
    """The evaluation with the grading of the plan's one assistant by its criteria.

    The observations in its actions are tied to what it lost.
    """
    [assistant] = plan.recipients
    found = tied(observe(acts_of_actions(assistant.id, results.action_log)), lost_parts_of(results, assistant.id))
    return evaluation.model_copy(
        update={
            "grading": grading_of(results, assistant.id),
            "observations": (*evaluation.observations, *found),
        }
    )


def with_findings(evaluation: TrialEvaluation, findings: Sequence[Finding]) -> TrialEvaluation:
    """The evaluation with the findings of the screening, which the judge does not see."""
    return evaluation.model_copy(update={"findings": [*evaluation.findings, *findings]})


def with_results(verdict: JudgedTrial, results: AssessmentResults) -> JudgedTrial:
    """The verdict with the results of the criteria, small enough to store."""
    stored = shortened_results(results, MAX_STORED).model_dump(mode="json")
    return verdict.model_copy(update={"assessment_results": stored})


def given_up(evaluation: TrialEvaluation, failure: InfrastructureFailure) -> TrialEvaluation:
    """The evaluation of a trial that could not be judged. If its participants are the cause, the outcome is 0."""
    told = evaluation.model_copy(update={"failure": failure, "warnings": [*evaluation.warnings, failure.message]})
    if evaluation.grading is not None or failure.caused_by != "participants":
        return told
    reason = f"the participants' own texts kept it from being judged: {failure.message}"
    return told.model_copy(update={"grading": Grading(value=0, source="code", scorer=None, reason=reason)})


def with_late(trial: TrialVerdict, late: int) -> TrialVerdict:
    """The verdict with the number of its trial's late steps that are not stored."""
    if trial.record is None or not late:
        return trial
    known = trial.record.trace_integrity
    counted = known.model_copy(update={"late": known.late + late})
    return trial.model_copy(update={"record": trial.record.model_copy(update={"trace_integrity": counted})})
