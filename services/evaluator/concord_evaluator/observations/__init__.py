"""Observations: checked facts of a trace that may explain its failure, each with its evidence. Pure."""

from concord_evaluator.observations.acts import Act, Deed, acts_of
from concord_evaluator.observations.finders import FINDERS, observe

__all__ = ["FINDERS", "Act", "Deed", "acts_of", "observe"]
