"""Grades by a scorer as a config names it."""

from collections.abc import Sequence

from concord.assessment.scorers import SCORER_CHOICE, named_scorer
from concord_evaluator.scorers import Graded, grade


def graded(scorer: object, targets: str | Sequence[str], answer: str) -> Graded:
    """The grade by a scorer, given as in a config: its name, or a mapping with its options."""
    choice = SCORER_CHOICE.validate_python(named_scorer(scorer))
    return grade(choice, [targets] if isinstance(targets, str) else targets, answer)


def value(scorer: object, targets: str | Sequence[str], answer: str) -> float:
    return graded(scorer, targets, answer).value
