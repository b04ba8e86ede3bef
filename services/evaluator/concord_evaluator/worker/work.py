"""What is computed in the pool's processes: documents in, documents out."""

from collections.abc import Sequence

from concord.assessment import AssessmentPlan
from concord.jobs import EvaluateTrial
from concord.reports import ReportBatch
from concord.results import InfrastructureFailure
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.pipeline import evaluate_trial


def evaluation_of(plan: AssessmentPlan, request: EvaluateTrial, batches: Sequence[ReportBatch]) -> str:
    """The `TrialEvaluation` of a trial, as JSON."""
    return evaluate_trial(plan, request, batches).model_dump_json()


def row_of(plan: AssessmentPlan, verdicts: Sequence[str], infrastructure: Sequence[InfrastructureFailure]) -> str:
    """The `ResultRow` of an assessment from its verdicts' JSON, as JSON."""
    return make_row(
        plan, [JudgedTrial.model_validate_json(each) for each in verdicts], infrastructure
    ).model_dump_json()
