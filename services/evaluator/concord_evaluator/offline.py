"""Evaluation without services: turns a trace into a row with the functions that the workers use."""

import asyncio
from dataclasses import replace
from typing import Final

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.result_row import ResultRow
from concord.assessment.results import Judgment, TrialOutcome
from concord.trace.decoding import ReadBatch, steps_of_batch
from concord.trace.effects import KIND
from concord.trace.report import unpack
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, Roster, RosterEntry, new_step_id
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.expectations import graded
from concord_evaluator.formats import Trace
from concord_evaluator.judge import TrialJudge, judge_by_rules, screened_evidence
from concord_evaluator.observations import acts_of, causes_of_parts
from concord_evaluator.pipeline import JUDGE, evaluate_trial, verdict_on
from concord_evaluator.temporal_network import temporal_network
from concord_evaluator.verdicts import with_findings

TRIAL_ID: Final = "trial-1"
TASK_ID: Final = "trace"

KEPT_HERE: Final = "the texts of an imported trace stay on this machine: --judge-content sends them to the model"

BY_RULES: Final = "a trace from a file is judged by rules"


def evaluate_trace(trace: Trace, config: AssessmentConfig) -> ResultRow:
    """The row of a trace, as of an assessment with one task and one completed trial. Pure.

    `config`: its evaluators, metrics, thresholds, evidence and roster count. Entries of its roster override those of
    the trace.
    """
    trace = graded(trace)
    plan = _plan(trace, config)
    evaluation = _evaluation(plan, trace)
    asked = JUDGE in config.chosen_evaluators((JUDGE,))
    return _row(plan, trace, evaluation, judge_by_rules(evaluation, plan.mode, BY_RULES) if asked else None)


async def judge_trace(
    trace: Trace, config: AssessmentConfig, judge: TrialJudge, *, imported_content: bool = False
) -> ResultRow:
    """The row of a trace as from `evaluate_trace`, but with the judgment and the findings of `judge`.

    The judge decides how far the task succeeded. The file does, by an outcome or what it declares, only where the judge
    could not tell. A model gets the texts of an imported trace only with `imported_content`; else the rules judge.
    """
    trace = graded(trace)
    if (declared := trace.grading) is not None:
        known = trace.task_success if declared.value is None else declared.value
        trace = replace(trace, grading=None, task_success=known)
    plan = _plan(trace, config)
    evaluation = await asyncio.to_thread(_evaluation, plan, trace)
    if trace.imported and not imported_content and judge.without_model is None:
        return _row(plan, trace, evaluation, judge_by_rules(evaluation, plan.mode, KEPT_HERE))
    root = Assignment(
        assessment_id=plan.assessment_id, trace_id=trace.trace_id, step_id=new_step_id(), agent_id=GREEN_AGENT
    )
    screened = await asyncio.to_thread(screened_evidence, plan, evaluation, trace.batches)
    judgment, _ = await judge.judge(plan, evaluation, screened, root)
    return _row(plan, trace, with_findings(evaluation, screened.findings), judgment)


def _evaluation(plan: AssessmentPlan, trace: Trace) -> TrialEvaluation:
    grading = trace.grading
    stated = trace.task_success is not None or (grading is not None and grading.source == "recorded")
    failure = "" if stated else trace.failure
    outcome = TrialOutcome(
        trial_id=TRIAL_ID,
        state="failed" if failure else "completed",
        error=failure or None,
        answer=trace.answer or None,
        time_used=trace.duration_s,
    )
    done = None if trace.task_success is None else float(trace.task_success == 1)
    evaluation = evaluate_trial(plan, outcome, trace.batches, recorded=done, grading=grading)
    causes = tuple(causes_of_parts(evaluation.observations, trace.parts)) or evaluation.causes
    roster = Roster(plan.roster)
    network = evaluation.network
    if network is None and _tells_effects(trace):
        network = temporal_network(acts_of(trace.reports(), roster), [entry.id for entry in roster])
    return evaluation.model_copy(update={"causes": causes, "network": network})


def _tells_effects(trace: Trace) -> bool:
    """Whether a step did anything to an artifact. Of most stored batches, the bytes tell that none did."""
    return any(
        KIND in step.additional_attributes
        for batch in trace.batches
        if isinstance(batch, ReadBatch) or KIND.encode() in unpack(batch.body)
        for step in steps_of_batch(batch)
    )


def _row(plan: AssessmentPlan, trace: Trace, evaluation: TrialEvaluation, judgment: Judgment | None) -> ResultRow:
    verdict = verdict_on(plan, evaluation, judgment, trace.task_success)
    warned = verdict.model_copy(update={"warnings": (*trace.warnings, *verdict.warnings)})
    row = make_row(plan, [warned], [])
    if not trace.version:
        return row
    return row.model_copy(update={"detail": row.detail.model_copy(update={"version": trace.version})})


def _plan(trace: Trace, config: AssessmentConfig) -> AssessmentPlan:
    task_id = trace.task_id or TASK_ID
    return AssessmentPlan(
        assessment_id=trace.trace_id,
        started_at=trace.started_at,
        mode=Mode.RECORDED,
        config=config,
        tasks=[TaskSpec(id=task_id, text=trace.task or trace.trace_id)],
        roster=_joined_roster(trace.roster, config.roster),
        trials=[TrialSpec(trial_id=TRIAL_ID, task_id=task_id, run=1, seed=config.seed, trace_id=trace.trace_id)],
    )


def _joined_roster(found: tuple[RosterEntry, ...], declared: list[RosterEntry]) -> list[RosterEntry]:
    known = Roster(declared)
    undeclared = [
        entry for entry in found if known.resolve("", entry.id) not in known and known.resolve(entry.url) not in known
    ]
    return [*declared, *undeclared]
