"""The law of added reports: whatever anybody reports, it raises no receipt and no score, and moves no blame."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment.verdict import Verdict
from concord.trace.report import Channel, ReportBatch
from concord_evaluator.aggregate import make_row
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from tests.kit.told_trials import Carried, Claim, ToldTrial, claims, told_trials


def found_in(trial: ToldTrial, batches: Sequence[ReportBatch]) -> dict[str, object]:
    """What a trial earns and whom it blames: receipts, information, causes, scores, and what the row says of them."""
    plan, outcome = trial.plan, trial.outcome.model_copy(update={"closed_after": len(batches)})
    evaluation = evaluate_trial(plan, outcome, batches)
    row = make_row(plan, [verdict := verdict_on(plan, evaluation, None)], [])
    assert isinstance(row.detail.verdict, Verdict)
    return {
        "grading": evaluation.grading,
        "receipts": evaluation.team_task,
        "causes of the trial": evaluation.causes,
        "score of the trial": verdict.record.overall_score,
        "score": (row.score, row.pass_rate, row.detail.scoring.information, row.detail.scoring.economy),
        "verdict": (row.detail.verdict.passed, row.detail.verdict.score),
        "causes with points": [each for each in row.detail.verdict.causes if each.points is not None],
        "figures": row.detail.verdict.figures,
        "ranking": row.detail.scoring.ranking_parts,
    }


@settings(max_examples=60)
@given(st.data())
def test_added_reports_raise_no_receipt_and_no_score_and_move_no_blame(data: st.DataObject) -> None:
    trial = data.draw(told_trials())
    added = data.draw(claims(trial))
    alone, together = found_in(trial, trial.batches()), found_in(trial, trial.batches(added))
    for name, value in alone.items():
        assert together[name] == value, name


@settings(max_examples=10)
@given(st.data())
def test_reports_that_came_after_the_trial_closed_change_as_little(data: st.DataObject) -> None:
    trial = data.draw(told_trials())
    in_time, late = trial.batches(), [each for each in trial.batches(data.draw(claims(trial))) if not each.is_observed]
    outcome = trial.outcome.model_copy(update={"closed_after": len(in_time)})
    alone, together = (evaluate_trial(trial.plan, outcome, batches) for batches in (in_time, [*in_time, *late]))
    assert (together.team_task, together.causes) == (alone.team_task, alone.causes)


def test_a_repeated_step_of_another_caller_adds_no_call() -> None:
    carried = Carried("agent/3", "agent/1", "", "", "answered", began=0, took=2, number=0, is_cut=False)
    quick = Carried("agent/1", "agent/2", "", "", "answered", began=0, took=0, number=0, is_cut=False)
    trial = ToldTrial("own", (carried, quick), ("48213",) * 4, replied=20)
    repeated = Claim("agent/1", "agent/3", carried, 0, Channel.HTTP, authenticated=False, place=0, is_nested=False)
    alone, together = found_in(trial, trial.batches()), found_in(trial, trial.batches([repeated]))
    assert together == alone
