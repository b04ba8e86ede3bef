"""The criteria of scenarios: evaluates them from the record of a trial, and grades the assistant by them."""

from concord_evaluator.criteria.evaluation import CriteriaEvaluator, evaluate_again, evaluate_by_code
from concord_evaluator.criteria.grading import grading_of
from concord_evaluator.criteria.size import MAX_RESULTS, MAX_STORED, shortened_results

__all__ = [
    "MAX_RESULTS",
    "MAX_STORED",
    "CriteriaEvaluator",
    "evaluate_again",
    "evaluate_by_code",
    "grading_of",
    "shortened_results",
]
