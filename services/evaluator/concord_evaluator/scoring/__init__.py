"""Scoring: how a team's coordination becomes a label and numbers. Deterministic, and versioned as a whole."""

from concord_evaluator.scoring.score import SCORING_VERSION, WEIGHTS, Score, score
from concord_evaluator.scoring.structure import BOTTLENECK_CAP, HIGH, MEDIUM, TeamStructure, quality_of, structure_of

__all__ = [
    "BOTTLENECK_CAP",
    "HIGH",
    "MEDIUM",
    "SCORING_VERSION",
    "WEIGHTS",
    "Score",
    "TeamStructure",
    "quality_of",
    "score",
    "structure_of",
]
