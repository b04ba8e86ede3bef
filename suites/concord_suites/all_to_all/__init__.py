"""All to all: the facts of one seat mean something only together with those of several others."""

from typing import Final

from concord_suites.all_to_all.connectivity import Connectivity
from concord_suites.all_to_all.logic_grid import LogicGrid
from concord_suites.all_to_all.meeting import Meeting
from concord_suites.all_to_all.offers_needs import OffersNeeds
from concord_suites.all_to_all.shortest_path import ShortestPath
from concord_suites.all_to_all.split_budget import SplitBudget
from concord_suites.family import TextFamily

FAMILIES: Final[tuple[TextFamily, ...]] = (
    Connectivity(),
    ShortestPath(),
    OffersNeeds(),
    Meeting(),
    SplitBudget(),
    LogicGrid(),
)

__all__ = ["FAMILIES"]
