"""Computes a row again from the contents of its bundle, with the evaluator's code, without services or a model."""

import asyncio
import platform
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from itertools import count
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import EvaluationInputs, TrialInputs, TrialVerdict
from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialOutcome
from concord.bundle import BundleError, Contents, TrialContents, trial_member
from concord.judging.asking import MissingAnswerError
from concord.version import VERSION
from concord_assistant.conducted import ConductedAssessment
from concord_evaluator.aggregate import make_row
from concord_evaluator.criteria.evaluation import evaluate_again
from concord_evaluator.documents import VERDICT, JudgedTrial, TrialEvaluation
from concord_evaluator.judge import judge_again, screened_evidence
from concord_evaluator.pipeline import Budget, evaluate_trial, verdict_on, without_metrics
from concord_evaluator.scoring import SCORING_VERSION
from concord_evaluator.verdicts import (
    given_up,
    graded_by,
    has_criteria,
    needs_judge,
    reads_texts,
    with_findings,
    with_late,
    with_results,
)


async def recomputed_row(contents: Contents, advance: Callable[[str], None] = lambda _: None) -> ResultRow:
    """The row without the digest of its bundle. `advance` is called with the id of each trial before it is evaluated.

    Scenarios' own evaluators run in their sandbox. Raises BundleError if the contents do not suffice.
    """
    verdicts = []
    for trial in contents.plan.trials:
        if trial.trial_id in contents.row_inputs.late:
            advance(trial.trial_id)
            verdict = await _verdict(contents, trial.trial_id)
            verdicts.append(with_late(verdict, contents.row_inputs.late[trial.trial_id]))
    return await asyncio.to_thread(make_row, contents.plan, verdicts, contents.row_inputs.infrastructure)


async def _verdict(contents: Contents, trial_id: str) -> TrialVerdict:
    try:
        return await _verdict_from(contents, trial_id)
    except BundleError:
        raise
    except MissingAnswerError as error:
        raise BundleError([f"{trial_member(trial_id, 'inputs.json')}: {error}"]) from error
    except ExceptionGroup as errors:  # from several questions at once
        raise BundleError([f"{trial_member(trial_id, 'inputs.json')}: {errors.exceptions[0]}"]) from errors
    except Exception as error:
        # No gateway writes members that the evaluator cannot read, so the bundle was edited.
        raise BundleError([f"trials/{trial_id}: cannot be evaluated: {type(error).__name__}"]) from error


async def _verdict_from(contents: Contents, trial_id: str) -> TrialVerdict:
    stored, plan = contents.trials[trial_id], _plan_of(contents.plan, trial_id)
    if stored.failure is not None:
        return TrialVerdict(failure=stored.failure)
    inputs, outcome = stored.inputs, stored.outcome
    if inputs is None or inputs.evaluation is None:
        raise BundleError([f"{trial_member(trial_id, 'inputs.json')}: is missing"])
    if outcome is None:
        raise BundleError([f"{trial_member(trial_id, 'outcome.json')}: is missing"])
    if len(stored.batches) != inputs.evaluation.batches:
        raise BundleError(
            [
                f"{trial_member(trial_id, 'reports.jsonl')}: has {len(stored.batches)} batches of reports, and "
                f"{inputs.evaluation.batches} were evaluated"
            ]
        )
    evaluation = _stored(await asyncio.to_thread(_evaluation, plan, outcome, stored, inputs.evaluation))
    if inputs.failure is not None:
        return _kept(verdict_on(plan, given_up(evaluation, inputs.failure), None))
    return _kept(await _judged(plan, outcome, stored, inputs, evaluation))


def _evaluation(
    plan: AssessmentPlan, outcome: TrialOutcome, stored: TrialContents, inputs: EvaluationInputs
) -> TrialEvaluation:
    if inputs.failure is not None:
        return without_metrics(plan, outcome, [batch for batch in stored.batches if batch.is_observed], inputs.failure)
    checks, in_time = count(), inputs.checks_in_time
    return evaluate_trial(
        plan,
        outcome,
        stored.batches,
        late=inputs.late,
        refused=inputs.refused,
        budget=Budget(inputs.steps, lambda: in_time is not None and next(checks) >= in_time),
    )


async def _judged(
    plan: AssessmentPlan,
    outcome: TrialOutcome,
    stored: TrialContents,
    inputs: TrialInputs,
    evaluation: TrialEvaluation,
) -> JudgedTrial:
    trial_id = outcome.trial_id
    results = judgment = None
    if has_criteria(plan, trial_id):
        if inputs.criteria is None:
            raise BundleError([f"{trial_member(trial_id, 'inputs.json')}: criteria: is missing"])
        results = await evaluate_again(_conducted(stored, trial_id), inputs.criteria)
        evaluation = graded_by(results, plan, evaluation)
    if needs_judge(plan, trial_id):
        if inputs.judge is None:
            raise BundleError([f"{trial_member(trial_id, 'inputs.json')}: judge: is missing"])
        screened = None
        if reads_texts(plan, trial_id):
            in_time = stored.batches[: outcome.closed_after]
            screened = await asyncio.to_thread(screened_evidence, plan, evaluation, in_time)
        judgment = await judge_again(plan, evaluation, screened, inputs.judge)
        evaluation = with_findings(evaluation, () if screened is None else screened.findings)
    verdict = verdict_on(plan, evaluation, judgment)
    return verdict if results is None else with_results(verdict, results)


def _conducted(stored: TrialContents, trial_id: str) -> ConductedAssessment:
    name = trial_member(trial_id, "conducted.json")
    if stored.conducted is None:
        raise BundleError([f"{name}: is missing"])
    try:
        record = ConductedAssessment.model_validate_json(stored.conducted)
    except ValidationError as error:
        raise BundleError([f"{name}: is not a record of an assistant's turns"]) from error
    if record.assessment_id.rpartition("/")[2] != trial_id:
        raise BundleError([f"{name}: is of {record.assessment_id}"])
    return record


def _plan_of(plan: AssessmentPlan, trial_id: str) -> AssessmentPlan:
    """The plan with only that trial and its task, as the evaluator's jobs have it."""
    trial = plan.trial(trial_id)
    return plan.model_copy(update={"trials": [trial], "tasks": [plan.task(trial.task_id)]})


def _stored(evaluation: TrialEvaluation) -> TrialEvaluation:
    """The evaluation as the judge's job reads it."""
    return TrialEvaluation.model_validate_json(evaluation.model_dump_json())


def _kept(verdict: JudgedTrial) -> TrialVerdict:
    """The verdict as the row's job reads it."""
    return VERDICT.validate_json(verdict.model_dump_json())


# The versions of the software that a row depends on.

_PACKAGES: Final = ("networkx", "numpy", "rustworkx")


@cache
def software_versions() -> Mapping[str, str]:
    """Versions by name: of Concord, of the scoring rules, of Python, and of the packages that compute.

    Read once: to look into the packages' metadata takes longer than to make a short row.
    """
    found = {"concord": VERSION, "python": platform.python_version(), "scoring": SCORING_VERSION}
    return MappingProxyType(found | {name: version(name) for name in _PACKAGES})
