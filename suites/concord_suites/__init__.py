"""The shipped suite: tasks that need a team."""

from typing import Final

from concord.suite import Suite
from concord_suites import all_to_all, pipeline
from concord_suites.family import TextFamily
from concord_suites.pool.maximum import Maximum

FAMILIES: Final[tuple[TextFamily, ...]] = (Maximum(), *pipeline.FAMILIES, *all_to_all.FAMILIES)

SUITE: Final = Suite({family.name: family for family in FAMILIES})

__all__ = ["FAMILIES", "SUITE"]
