"""The functions that run in the pool's processes. They take and return JSON documents."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import EvaluateTrial
from concord.assessment.result_row import InfrastructureFailure
from concord.trace.report import ReportBatch
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.pipeline import Budget, evaluate_trial


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """`steps`: how many an evaluation reads at most; `seconds`: after these it starts nothing optional."""

    steps: int
    seconds: float


def evaluation_of(
    plan: AssessmentPlan,
    request: EvaluateTrial,
    batches: Sequence[ReportBatch],
    refused: Mapping[str, int],
    limits: EvaluationLimits,
    *,
    late: Sequence[str] = (),
) -> str:
    """The `TrialEvaluation` of a trial, as JSON. `late`: the reporters of steps that came after the trial closed."""
    ends_at = time.monotonic() + limits.seconds
    budget = Budget(limits.steps, lambda: time.monotonic() >= ends_at)
    return evaluate_trial(plan, request, batches, late=late, refused=refused, budget=budget).model_dump_json()


def row_of(
    plan: AssessmentPlan, verdicts: Sequence[tuple[str, int]], infrastructure: Sequence[InfrastructureFailure]
) -> str:
    """The `ResultRow` of an assessment, as JSON. `verdicts`: each as JSON, with the number of its late steps."""
    judged = [_with_late(JudgedTrial.model_validate_json(verdict), late) for verdict, late in verdicts]
    return make_row(plan, judged, infrastructure).model_dump_json()


def _with_late(trial: JudgedTrial, late: int) -> JudgedTrial:
    if trial.record is None or not late:
        return trial
    known = trial.record.trace_integrity
    counted = known.model_copy(update={"late": known.late + late})
    return trial.model_copy(update={"record": trial.record.model_copy(update={"trace_integrity": counted})})
