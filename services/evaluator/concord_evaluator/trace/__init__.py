"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.attempts import Contradictions
from concord_evaluator.trace.interactions import Call, Interaction, Link, LinkCalls, Links, Provenance, calls_on
from concord_evaluator.trace.observability import observability_of, team_observability, unseen_participants
from concord_evaluator.trace.projection import Evidence, Projection, project

__all__ = [
    "Call",
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
