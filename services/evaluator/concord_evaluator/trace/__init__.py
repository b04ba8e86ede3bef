"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.attribution import Contradictions
from concord_evaluator.trace.links import Call, CallList, Interaction, LinkCalls, Links, calls_on
from concord_evaluator.trace.projection import (
    Evidence,
    Projection,
    observability_of,
    project,
    team_observability,
    unseen_participants,
)

__all__ = [
    "Call",
    "CallList",
    "Contradictions",
    "Evidence",
    "Interaction",
    "LinkCalls",
    "Links",
    "Projection",
    "calls_on",
    "observability_of",
    "project",
    "team_observability",
    "unseen_participants",
]
