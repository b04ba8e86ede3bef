"""Observations: checked facts of a trace that may explain its failure, each with its evidence. Pure."""

from concord_evaluator.observations.acts import Act, Deed, acts_of, acts_of_actions
from concord_evaluator.observations.finders import FINDERS, observe
from concord_evaluator.observations.reading import causes_of_parts, reading_order, tied

__all__ = [
    "FINDERS",
    "Act",
    "Deed",
    "acts_of",
    "acts_of_actions",
    "causes_of_parts",
    "observe",
    "reading_order",
    "tied",
]
