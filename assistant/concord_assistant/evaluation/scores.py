"""Scores from the results of criteria: by dimension, overall, and whether enough could be checked."""

from collections.abc import Sequence
from math import fsum
from typing import Final

from concord_assistant.results import DIMENSIONS, CriterionResult, Score, Scores

MAX_ERRED: Final = 0.1
"""The share of the points whose checks may fail before the assessment is unjudged."""


def aggregate_scores(results: Sequence[CriterionResult]) -> Scores:
    """The scores of the dimensions that have criteria, and their sum. Criteria whose check failed are in neither."""
    dimensions = {
        dimension: _sum([result for result in results if result.dimension == dimension])
        for dimension in DIMENSIONS
        if any(result.dimension == dimension for result in results)
    }
    overall = Score(
        score=fsum(score.score for score in dimensions.values()),
        max_score=fsum(score.max_score for score in dimensions.values()),
    )
    return Scores(overall=overall, dimensions=dimensions)


def unjudged(results: Sequence[CriterionResult]) -> bool:
    """Whether the checks of more than a tenth of the points failed."""
    erred = sum(result.max_score for result in results if result.score is None)
    return erred > MAX_ERRED * sum(result.max_score for result in results)


def _sum(results: Sequence[CriterionResult]) -> Score:
    known = [(result.score, result.max_score) for result in results if result.score is not None]
    return Score(score=fsum(score for score, _ in known), max_score=fsum(most for _, most in known))
