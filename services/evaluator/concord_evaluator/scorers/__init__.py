"""Scorers: code that grades answers. `registry` lists the built-in ones.

A package adds a scorer with an entry point in the group `concord.scorers` that names a `Scorer`:

    [project.entry-points."concord.scorers"]
    mine = "my_package:grade"
"""

from concord_evaluator.scorers.graded import MAX_EXPLANATION, Graded, ScorerFailedError
from concord_evaluator.scorers.registry import (
    BUILT_IN_SCORERS,
    SCORERS,
    Scorer,
    UnknownScorerError,
    grade,
    grade_answers,
)

__all__ = [
    "BUILT_IN_SCORERS",
    "MAX_EXPLANATION",
    "SCORERS",
    "Graded",
    "Scorer",
    "ScorerFailedError",
    "UnknownScorerError",
    "grade",
    "grade_answers",
]
