"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.interactions import Call, Interaction, Link, LinkCalls, Links, Provenance, calls_on
from concord_evaluator.trace.projection import Evidence, Projection, project

__all__ = [
    "Call",
    "Evidence",
    "Interaction",
    "Link",
    "LinkCalls",
    "Links",
    "Projection",
    "Provenance",
    "calls_on",
    "project",
]
