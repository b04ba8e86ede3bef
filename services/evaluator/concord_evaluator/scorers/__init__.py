"""Scorers: how well answers are graded by code, our own scorers' and that of installed packages.

A package adds a scorer with an entry point in the group `concord.assessment.scorers` that names a `Scorer`:

    [project.entry-points."concord.scorers"]
    mine = "my_package:grade"
"""

from concord_evaluator.scorers.answers import grade_answers
from concord_evaluator.scorers.graded import MAX_EXPLANATION, Graded, ScorerFailedError
from concord_evaluator.scorers.grading import MAX_ANSWER, grade
from concord_evaluator.scorers.packages import (
    ENTRY_POINT_GROUP,
    BrokenScorerError,
    Scorer,
    UnknownScorerError,
    installed_scorers,
)

__all__ = [
    "ENTRY_POINT_GROUP",
    "MAX_ANSWER",
    "MAX_EXPLANATION",
    "BrokenScorerError",
    "Graded",
    "Scorer",
    "ScorerFailedError",
    "UnknownScorerError",
    "grade",
    "grade_answers",
    "installed_scorers",
]
