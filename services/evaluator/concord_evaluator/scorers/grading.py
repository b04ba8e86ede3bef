"""Which scorer grades an answer. Pure: the same choice, targets and answer give the same."""

from collections.abc import Sequence
from typing import Final, assert_never

from concord.assessment.scorers import (
    ExactScorer,
    IncludesScorer,
    JsonScorer,
    MatchScorer,
    ModelScorer,
    NumericScorer,
    PackageScorer,
    PatternScorer,
    ScorerChoice,
)
from concord_evaluator.scorers.exact import grade_exact
from concord_evaluator.scorers.graded import Graded, graded
from concord_evaluator.scorers.includes import grade_includes
from concord_evaluator.scorers.json_scorer import grade_json
from concord_evaluator.scorers.match import grade_match
from concord_evaluator.scorers.numeric import grade_numeric
from concord_evaluator.scorers.packages import grade_by_package
from concord_evaluator.scorers.pattern import grade_pattern

MAX_ANSWER: Final = 100_000
"""Characters of an answer: a longer one is not read, and worth nothing."""


def grade(choice: ScorerChoice, targets: Sequence[str], answer: str) -> Graded:
    """Grades one answer in code.

    Raises ScorerFailedError where options or targets cannot be used, or a package's scorer fails; UnknownScorerError
    and BrokenScorerError for a package's scorer that is not there or cannot be loaded; ValueError for `model`, whose
    answers the judge grades.
    """
    if len(answer) > MAX_ANSWER:
        return graded(0, f"the answer is longer than {MAX_ANSWER:,} characters")
    match choice:
        case ExactScorer():
            return grade_exact(targets, answer)
        case IncludesScorer():
            return grade_includes(choice, targets, answer)
        case MatchScorer():
            return grade_match(choice, targets, answer)
        case PatternScorer():
            return grade_pattern(choice, targets, answer)
        case NumericScorer():
            return grade_numeric(choice, targets, answer)
        case JsonScorer():
            return grade_json(choice, answer)
        case PackageScorer():
            return grade_by_package(choice, targets, answer)
        case ModelScorer():
            raise ValueError("the judge grades answers for the scorer 'model'")
    assert_never(choice)
