"""Scores from the results of criteria: by dimension, overall, and whether enough could be checked."""

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final

from concord_assistant.results import DIMENSIONS, CriterionResult, Score, Scores

MAX_ERRED: Final = 0.1
"""The share of the points whose checks may fail before the assessment is unjudged."""


def aggregate_scores(results: Sequence[CriterionResult]) -> Scores:
    """The scores of the dimensions that have criteria, and their sum. What is open counts 0."""
    dimensions = {
        dimension: _sum([result for result in results if result.dimension == dimension])
        for dimension in DIMENSIONS
        if any(result.dimension == dimension for result in results)
    }
    return Scores(overall=sum_of(dimensions.values()), dimensions=dimensions)


def unjudged(results: Sequence[CriterionResult]) -> bool:
    """Whether the checks of more than a tenth of the points failed."""
    erred = sum(result.max_score for result in results if result.score is None)
    return erred > MAX_ERRED * sum(result.max_score for result in results)


def _sum(results: Sequence[CriterionResult]) -> Score:
    return sum_of([Score(score=each.score or 0.0, max_score=each.max_score, score_high=each.high) for each in results])


def sum_of(scores: Iterable[Score]) -> Score:
    """The sum of scores."""
    parts = list(scores)
    low, high = fsum(each.score for each in parts), fsum(each.high for each in parts)
    return Score(score=low, max_score=fsum(each.max_score for each in parts), score_high=high if high > low else None)
