"""The functions that run in the pool's processes. They take and return JSON documents."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import EvaluationInputs
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import TrialOutcome
from concord.trace.report import ReportBatch
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import VERDICT, TrialEvaluation
from concord_evaluator.judge import SCREENED, screened_evidence
from concord_evaluator.pipeline import Budget, evaluate_trial, without_garbage_collection, without_metrics
from concord_evaluator.settings import EvaluationLimits
from concord_evaluator.verdicts import with_late


@without_garbage_collection()
def evaluation_of(
    plan: AssessmentPlan,
    outcome: TrialOutcome,
    batches: Sequence[ReportBatch],
    refused: Mapping[str, int],
    limits: EvaluationLimits,
    *,
    late: Sequence[str] = (),
) -> str:
    """The `TrialEvaluation` of a trial, as JSON. `late`: the reporters of steps that came after the trial closed."""
    deadline = _Deadline(time.monotonic() + limits.seconds)
    evaluation = evaluate_trial(
        plan, outcome, batches, late=late, refused=refused, budget=Budget(limits.steps, deadline.is_over)
    )
    inputs = EvaluationInputs(
        batches=len(batches),
        late=list(late),
        refused=dict(refused),
        steps=limits.steps,
        checks_in_time=deadline.checks_in_time if deadline.over else None,
    )
    return evaluation.model_copy(update={"inputs": inputs}).model_dump_json()


def evaluation_without_metrics(
    plan: AssessmentPlan, outcome: TrialOutcome, batches: Sequence[ReportBatch], reason: str
) -> str:
    """The `TrialEvaluation` of a trial that could not be evaluated for that reason, as JSON."""
    evaluation = without_metrics(plan, outcome, [batch for batch in batches if batch.is_observed], reason)
    inputs = EvaluationInputs(batches=len(batches), failure=reason)
    return evaluation.model_copy(update={"inputs": inputs}).model_dump_json()


def evidence_on(plan: AssessmentPlan, evaluation: TrialEvaluation, batches: Sequence[ReportBatch]) -> bytes:
    """The `ScreenedEvidence` on a trial, as JSON."""
    return SCREENED.dump_json(screened_evidence(plan, evaluation, batches))


@dataclass(slots=True)
class _Deadline:
    """A deadline that counts how often it was checked in time, so that an evaluation can be repeated exactly."""

    at: float
    checks_in_time: int = 0
    over: bool = False

    def is_over(self) -> bool:
        self.over = self.over or time.monotonic() >= self.at
        self.checks_in_time += not self.over
        return self.over


@without_garbage_collection()
def row_of(
    plan: AssessmentPlan, verdicts: Sequence[tuple[str, int]], infrastructure: Sequence[InfrastructureFailure]
) -> str:
    """The `ResultRow` of an assessment, as JSON. `verdicts`: each as JSON, with the number of its late steps."""
    judged = [with_late(VERDICT.validate_json(verdict), late) for verdict, late in verdicts]
    return make_row(plan, judged, infrastructure).model_dump_json()
