"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.attempts import Contradictions
from concord_evaluator.trace.interactions import Call, CallList, Interaction, Link
from concord_evaluator.trace.links import LinkCalls, Links, calls_on
from concord_evaluator.trace.observability import observability_of, team_observability, unseen_participants
from concord_evaluator.trace.projection import Evidence, Projection, project
from concord_evaluator.trace.provenance import Provenance

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
