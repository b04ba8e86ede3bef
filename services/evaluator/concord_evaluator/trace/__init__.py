"""From reports to interactions: folding, the step forest, attribution, causal order, and the projection onto agents."""

from concord_evaluator.trace.interactions import Interaction, Provenance
from concord_evaluator.trace.projection import Evidence, Projection, project
from concord_evaluator.trace.timeline import Call

__all__ = ["Call", "Evidence", "Interaction", "Projection", "Provenance", "project"]
