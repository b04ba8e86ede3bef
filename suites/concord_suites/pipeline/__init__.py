"""Pipeline: each seat works on the results of others."""

from typing import Final

from concord_suites.family import TextFamily
from concord_suites.pipeline.distributed_sort import DistributedSort
from concord_suites.pipeline.joined_tables import JoinedTables
from concord_suites.pipeline.key_assembly import KeyAssembly
from concord_suites.pipeline.prefix_sums import PrefixSums
from concord_suites.pipeline.relay import Relay
from concord_suites.pipeline.route import Route

FAMILIES: Final[tuple[TextFamily, ...]] = (
    PrefixSums(),
    Relay(),
    DistributedSort(),
    JoinedTables(),
    Route(),
    KeyAssembly(),
)

__all__ = ["FAMILIES"]
