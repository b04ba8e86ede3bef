"""The difference between two versions that so many paired trials can show."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, stdev
from typing import Final

from concord_evaluator.statistics.estimates import LEVEL, students_t

POWER: Final = 0.8
"""The chance that a detectable difference is shown."""


def detectable_difference(spread: float, pairs: int) -> float | None:
    """The mean difference in [0, 1] that `pairs` paired trials show at `LEVEL` with a chance of about `POWER`.

    `spread`: the standard deviation of the differences of pairs. None for fewer than two pairs, and if they would not
    even show the whole scale. It is that of a fixed number of pairs (t test); `concord check`, which may stop at any
    pair, takes about twice as many.
    """
    if pairs < 2:
        return None
    difference = (students_t(LEVEL, pairs - 1) + NormalDist().inv_cdf(POWER)) * spread / sqrt(pairs)
    return difference if difference <= 1 else None


def likely_spread(scores: Sequence[float]) -> float:
    """The standard deviation of the differences that one version's scores in [0, 1], at least one, let expect.

    It is that of the scores, as if the scores of both versions were correlated by one half. One score of 0 and one of 1
    are added, so that equal scores do not seem to exclude all others (as A. Agresti and B. Coull do for rates, Am.
    Stat. 52 (1998)).
    """
    return stdev([*scores, 0.0, 1.0])
