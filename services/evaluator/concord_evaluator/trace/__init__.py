"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.interactions import Call, Interaction, Link, Provenance, by_link
from concord_evaluator.trace.projection import Evidence, Projection, project

__all__ = ["Call", "Evidence", "Interaction", "Link", "Projection", "Provenance", "by_link", "project"]
