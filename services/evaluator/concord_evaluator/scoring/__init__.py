"""Scoring: the score of a trial and its coordination label. Deterministic, and versioned as a whole."""

from concord_evaluator.scoring.score import SCORING_VERSION, WEIGHTS, Score, score_outcome, score_structure
from concord_evaluator.scoring.team_structure import (
    BOTTLENECK_CAP,
    HIGH,
    MEDIUM,
    TeamStructure,
    quality_of,
    structure_of,
)

__all__ = [
    "BOTTLENECK_CAP",
    "HIGH",
    "MEDIUM",
    "SCORING_VERSION",
    "WEIGHTS",
    "Score",
    "TeamStructure",
    "quality_of",
    "score_outcome",
    "score_structure",
    "structure_of",
]
