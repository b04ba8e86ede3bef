"""The result of a criterion from what the evaluator, the model and the required criteria said of it."""

from collections.abc import Mapping
from typing import Any

from concord_assistant.evaluation.model_criteria import ModelVerdict
from concord_assistant.results import CriterionResult
from concord_assistant.scenario.evaluators import EvalResult
from concord_assistant.scenario.schema import EvaluationCriterion


def of_model(criterion: EvaluationCriterion, verdict: ModelVerdict) -> CriterionResult:
    """The model's share of the criterion's points."""
    return _result(criterion, verdict.share * criterion.max_score, verdict.explanation, verdict.details)


def lowered_by_model(criterion: EvaluationCriterion, by_code: EvalResult, verdict: ModelVerdict) -> CriterionResult:
    """The lower one of the evaluator's and the model's scores."""
    checked = scored(criterion, by_code)
    points = verdict.share * criterion.max_score
    details = {**(by_code.details or {}), "model": {**verdict.details, "score": points}}
    if checked.score is not None and points < checked.score:
        explanation = f"{by_code.explanation} The model lowers the score: {verdict.explanation}"
        return _result(criterion, points, explanation, details)
    return checked.model_copy(update={"details": details})


def scored(criterion: EvaluationCriterion, verdict: EvalResult) -> CriterionResult:
    """The evaluator's share of its own `max_score`, in the criterion's points."""
    points = min(verdict.score / verdict.max_score, 1.0) * criterion.max_score
    return _result(criterion, points, verdict.explanation, verdict.details)


def with_requirements(
    result: CriterionResult, criterion: EvaluationCriterion, found: Mapping[str, CriterionResult]
) -> CriterionResult:
    """The result, or none of its points if a required criterion has none. Null if that cannot be told."""
    required = [found[name] for name in criterion.requires]
    if unknown := [each.criterion_id for each in required if each.score is None]:
        return not_checked(criterion, f"requires {', '.join(unknown)}, whose check failed")
    missed = [each.criterion_id for each in required if each.score == 0]
    if not missed or not result.score:
        return result
    explanation = f"No points without {', '.join(missed)}. {result.explanation}"
    return result.model_copy(update={"score": 0.0, "explanation": explanation})


def _result(
    criterion: EvaluationCriterion,
    points: float | None,
    explanation: str,
    details: dict[str, Any] | None = None,
    error: str | None = None,
) -> CriterionResult:
    return CriterionResult(
        criterion_id=criterion.criterion_id,
        name=criterion.name,
        dimension=criterion.dimension,
        score=points,
        max_score=criterion.max_score,
        explanation=explanation,
        method="model" if criterion.evaluator_id is None else "programmatic",
        details=details,
        error=error,
    )


def not_checked(criterion: EvaluationCriterion, error: str) -> CriterionResult:
    """The result, null, of a criterion whose check failed."""
    return _result(criterion, None, "The criterion could not be checked.", error=error)
