"""Grades for tests, by a scorer given as in a config."""

from collections.abc import Sequence

from concord.assessment.scorers import SCORER_CHOICE, named_scorer
from concord_evaluator.scorers import Graded, grade


def graded(scorer: object, targets: str | Sequence[str], answer: str) -> Graded:
    """The grade by a scorer, which is given as its name or as a mapping with its options."""
    choice = SCORER_CHOICE.validate_python(named_scorer(scorer))
    return grade(choice, [targets] if isinstance(targets, str) else targets, answer)


def value(scorer: object, targets: str | Sequence[str], answer: str) -> float:
    return graded(scorer, targets, answer).value
