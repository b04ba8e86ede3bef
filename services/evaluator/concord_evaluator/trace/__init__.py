"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.attribution import Contradictions, Provenance
from concord_evaluator.trace.links import Call, CallList, Interaction, Link, LinkCalls, Links, calls_on
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
    "Link",
    "LinkCalls",
    "Links",
    "Projection",
    "Provenance",
    "calls_on",
    "observability_of",
    "project",
    "team_observability",
    "unseen_participants",
]
