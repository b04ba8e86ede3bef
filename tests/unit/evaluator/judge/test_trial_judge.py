"""The judge's input: only what the judge needs is read of a trial's trace."""

from dataclasses import replace

import pytest

from concord.assessment import AssessmentPlan, Mode
from concord.trace.report import ReportBatch
from concord_evaluator.judge import evidence_of, needs_trace
from tests.unit.evaluator.traces import call, reported_by
from tests.unit.evaluator.trials import batch, carried, evaluated, plan

CARRIED = batch(0, carried(1, "A", "B"))
CLAIMED = batch(1, reported_by("B", call("claimed", "A")))


def in_mode(mode: Mode) -> AssessmentPlan:
    return plan("AB").model_copy(update={"mode": mode})


@pytest.mark.parametrize(
    ("mode", "batches", "needed"),
    [
        (Mode.LIVE, [CARRIED], True),
        (Mode.LIVE, [CLAIMED], False),
        (Mode.LIVE, [], False),
        (Mode.RECORDED, [CLAIMED], True),
        (Mode.GROUND_TRUTH, [CARRIED, CLAIMED], False),
    ],
)
def test_the_trace_is_needed_only_for_texts_of_calls_that_the_judge_sees(
    mode: Mode, batches: list[ReportBatch], needed: bool
) -> None:
    planned = in_mode(mode)
    assert needs_trace(planned, evaluated(planned, batches)) is needed


def test_reports_of_participants_in_a_live_trial_are_not_read() -> None:
    planned = in_mode(Mode.LIVE)
    evaluation = evaluated(planned, [CARRIED, CLAIMED])
    shown = evidence_of(planned, evaluation, [CARRIED, replace(CLAIMED, body=b"unreadable")])
    assert [(seen.caller, seen.callee) for seen in shown.calls] == [("agent 1", "agent 2")]
