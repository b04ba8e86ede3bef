"""A row is computed again from recorded inputs, also where an evaluation met its limits or failed."""

from collections.abc import Sequence

import pytest

from concord.assessment import AssessmentPlan, AssessmentRequest
from concord.assessment.jobs import EvaluationInputs, JudgeInputs, RowInputs, TrialInputs, TrialVerdict
from concord.assessment.result_row import InfrastructureFailure, ResultRow
from concord.bundle import BundleError, Contents, TrialContents
from concord.trace.report import ReportBatch
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.pipeline import Budget, evaluate_trial, verdict_on, without_metrics
from concord_evaluator.recomputation import recomputed_row
from concord_evaluator.settings import EvaluationLimits
from concord_evaluator.verdicts import given_up, with_late
from concord_evaluator.worker.pool_functions import evaluation_of
from tests.kit.graphs import mesh
from tests.kit.traces import call, reported_by
from tests.kit.trials import answered_by_all, batch, batches_of, outcome, plan

PLAN = plan(mesh(4)[0], config={"evaluators": ["graph", "latency"]})
ENDED = answered_by_all(PLAN, outcome(closed_after=12))
BATCHES = tuple(batches_of(mesh(4), latency=5))
FAILURE = InfrastructureFailure(trial_id="trial-1", stage="judgment", message="the worker was killed")


def contents(
    inputs: TrialInputs | None,
    *,
    batches: tuple[ReportBatch, ...] = BATCHES,
    late: int = 0,
    failure: InfrastructureFailure | None = None,
) -> Contents:
    """The contents of a bundle with the plan's one trial."""
    trial = TrialContents(ENDED, inputs, failure, batches, None)
    request = AssessmentRequest.model_validate({"participants": {"a": "http://a"}})
    row_inputs = RowInputs(late={"trial-1": late}, infrastructure=[], versions={})
    return Contents(PLAN, request, row_inputs, {"trial-1": trial})


def row_of(evaluation: TrialEvaluation, plan: AssessmentPlan = PLAN, late: int = 0) -> ResultRow:
    return make_row(plan, [with_late(verdict_on(plan, evaluation, None), late)], [])


def inputs(**evaluation: object) -> TrialInputs:
    return TrialInputs(evaluation=EvaluationInputs.model_validate({"batches": len(BATCHES), **evaluation}))


async def test_late_steps_late_reporters_and_refused_steps_are_inputs() -> None:
    evaluation = evaluate_trial(PLAN, ENDED, BATCHES, late=["b"], refused={"c": 7})
    recorded = inputs(late=["b"], refused={"c": 7})
    row = await recomputed_row(contents(recorded, late=3))
    assert row == row_of(evaluation, late=3)
    assert (row.detail.trace_integrity.late, row.detail.trace_integrity.dropped) == (3, 7)


@pytest.mark.parametrize("checks", [0, 1, 5])
async def test_an_evaluation_that_ran_out_of_time_stops_at_the_same_place_again(checks: int) -> None:
    asked = iter(range(1000))
    budget = Budget(None, lambda: next(asked) >= checks)
    evaluation = evaluate_trial(PLAN, ENDED, BATCHES, budget=budget)
    row = await recomputed_row(contents(inputs(checks_in_time=checks)))
    assert row == row_of(evaluation)
    assert row != await recomputed_row(contents(inputs()))


@pytest.mark.parametrize(("seconds", "in_time"), [(-1.0, 0), (1000.0, None)])
def test_the_evaluator_records_how_long_it_had_time(seconds: float, in_time: int | None) -> None:
    document = evaluation_of(PLAN, ENDED, BATCHES, {}, EvaluationLimits(steps=1000, seconds=seconds))
    recorded = TrialEvaluation.model_validate_json(document).inputs
    assert recorded == EvaluationInputs(batches=len(BATCHES), steps=1000, checks_in_time=in_time)


async def test_an_evaluation_of_too_many_steps_leaves_out_the_same_ones() -> None:
    reports = (batch(n, reported_by("a01", call(f"{n:04}", "a02", request="more"))) for n in range(900, 910))
    batches = (*reports, *BATCHES)
    evaluation = evaluate_trial(PLAN, ENDED, batches, budget=Budget(5))
    row = await recomputed_row(contents(inputs(steps=5, batches=len(batches)), batches=batches))
    assert row == row_of(evaluation)
    assert row.detail.trace_integrity.dropped > 0


async def test_a_trial_whose_evaluation_failed_has_its_score_again() -> None:
    observed: Sequence[ReportBatch] = [batch for batch in BATCHES if batch.is_observed]
    evaluation = without_metrics(PLAN, ENDED, observed, "out of memory")
    row = await recomputed_row(contents(inputs(failure="out of memory")))
    assert row == row_of(evaluation)
    assert row.score is not None


async def test_a_trial_whose_judging_failed_has_its_failure_again() -> None:
    evaluation = evaluate_trial(PLAN, ENDED, BATCHES)
    row = await recomputed_row(contents(inputs().model_copy(update={"failure": FAILURE})))
    assert row == row_of(given_up(evaluation, FAILURE))
    assert FAILURE in row.detail.infrastructure


async def test_a_trial_without_any_result_is_a_failure_again() -> None:
    row = await recomputed_row(contents(None, failure=FAILURE))
    assert row == make_row(PLAN, [TrialVerdict(failure=FAILURE)], [])


async def test_a_judgment_that_the_plan_does_not_ask_for_has_no_part_in_the_row() -> None:
    recorded = inputs().model_copy(update={"judge": JudgeInputs(reason="made up")})
    assert await recomputed_row(contents(recorded)) == await recomputed_row(contents(inputs()))


async def test_reports_that_were_not_evaluated_are_refused() -> None:
    with pytest.raises(BundleError, match=r"reports.jsonl: has 12 batches of reports, and 11 were evaluated"):
        await recomputed_row(contents(inputs(batches=11)))
