"""From reports to interactions: folding, the step forest, attribution, and the projection onto agents."""

from concord_evaluator.trace.interactions import Interaction, Provenance
from concord_evaluator.trace.projection import Evidence, Projection, project

__all__ = ["Evidence", "Interaction", "Projection", "Provenance", "project"]
