"""The scenarios evaluated without services, from stored batches to records."""

from typing import Any

from pydantic import JsonValue

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.assessment.results import TrialOutcome, TrialRecord
from concord.trace.report import Channel, ReportBatch, pack
from concord.trace.stored_step import TraceBatch, written
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from concord_gateway.drivers.ground_truth import pattern_steps
from tests.kit.traces import RECEIVED_AT


def tasks(scenarios: list[dict[str, Any]]) -> list[JsonValue]:
    """The scenarios as the tasks of a request's config."""
    return [{"id": each["id"], "interaction_pattern": each["interaction_pattern"]} for each in scenarios]


def evaluate(scenarios: list[dict[str, Any]]) -> dict[str, TrialRecord]:
    """The record of each scenario by its id."""
    config = AssessmentConfig.model_validate({"tasks": tasks(scenarios)})
    specs = config.chosen_tasks()
    plan = AssessmentPlan(
        assessment_id="ground-truth",
        mode=Mode.GROUND_TRUTH,
        config=config,
        tasks=specs,
        roster=[],
        trials=plan_trials(AssessmentConfig(), specs),
    )
    return {spec.id: _record(plan, spec) for spec in specs}


def _record(plan: AssessmentPlan, task: TaskSpec) -> TrialRecord:
    trial = next(each for each in plan.trials if each.task_id == task.id)
    outcome = TrialOutcome(
        trial_id=trial.trial_id,
        state="completed",
        error=None,
        answer=None,
        time_used=0.0,
    )
    evaluation = evaluate_trial(plan, outcome, _batches(task, trial.trace_id))
    return verdict_on(plan, evaluation, judge_by_rules(evaluation, plan.mode, "offline")).record


def _batches(task: TaskSpec, trace_id: str) -> list[ReportBatch]:
    assert task.interaction_pattern is not None
    return [
        ReportBatch(
            batch_id=caller,
            trace_id=trace_id,
            reporter=caller,
            authenticated=True,
            channel=Channel.OBSERVED,
            received_at=RECEIVED_AT,
            n_steps=len(steps),
            dropped=0,
            body=pack(written(TraceBatch(caller, trace_id, caller, steps))),
        )
        for caller, steps in pattern_steps(task.interaction_pattern, trace_id)
    ]
