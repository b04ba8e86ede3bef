"""Pool: one seat needs something from every other."""

from typing import Final

from concord_suites.family import TextFamily
from concord_suites.pool.count import Count
from concord_suites.pool.date_intersection import DateIntersection
from concord_suites.pool.dedupe import Dedupe
from concord_suites.pool.majority import Majority
from concord_suites.pool.maximum import Maximum
from concord_suites.pool.median import Median
from concord_suites.pool.second_price import SecondPrice
from concord_suites.pool.set_union import SetUnion
from concord_suites.pool.top_k import TopK

FAMILIES: Final[tuple[TextFamily, ...]] = (
    Maximum(),
    Count(),
    SetUnion(),
    Majority(),
    Median(),
    TopK(),
    Dedupe(),
    DateIntersection(),
    SecondPrice(),
)

__all__ = ["FAMILIES"]
