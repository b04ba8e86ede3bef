"""The shipped suite: tasks that need a team."""

from typing import Final

from concord.suite import Suite
from concord_suites import agree, judge, pool
from concord_suites.family import TextFamily
from concord_suites.pipeline.prefix_sums import PrefixSums

FAMILIES: Final[tuple[TextFamily, ...]] = (*pool.FAMILIES, PrefixSums(), *agree.FAMILIES, *judge.FAMILIES)

SUITE: Final = Suite({family.name: family for family in FAMILIES})

__all__ = ["FAMILIES", "SUITE"]
