"""Grading by the scorer of another package: what it gives is checked, and how it fails is told."""

from collections.abc import Sequence

from concord.scorers import PackageScorer
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded
from concord_evaluator.scorers.registry import installed_scorer


def grade_by_package(choice: PackageScorer, targets: Sequence[str], answer: str) -> Graded:
    """What the package's scorer gives. Raises UnknownScorerError, BrokenScorerError, ScorerFailedError."""
    scorer = installed_scorer(choice.name)
    try:
        given: object = scorer(answer, tuple(targets), **choice.options)
    except Exception as error:
        raise ScorerFailedError(choice.name, f"{type(error).__name__}: {error}") from error
    match given:
        case (int() | float() as value, str(explanation)) if 0 <= value <= 1:
            return graded(value, explanation)
    raise ScorerFailedError(choice.name, f"it gives no value from 0 to 1 with an explanation, but {given!r}")
