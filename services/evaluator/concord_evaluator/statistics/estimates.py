"""Estimates of rates and means from trials: confidence intervals, pass^k, and the claims that they support."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, fsum, sqrt
from statistics import NormalDist, fmean
from typing import Final, Literal

LEVEL: Final = 0.95
"""The default confidence level."""

Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""The normal quantile of `LEVEL`."""


_NO_SCATTER: Final = 1e-18
"""A sum of squares that is a rounding error."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, from `n` values in `clusters` groups, and the method that made it."""

    low: float
    high: float
    n: int
    clusters: int
    method: Literal["wilson", "t", "clustered t", "no scatter"]

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low


def rate_interval(successes: int, n: int) -> Interval | None:
    """Wilson's interval for a rate; None without trials.

    Source: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927). It keeps its level for small n and rates near 0 and 1, where
    the normal interval collapses. It assumes independent trials.
    """
    if not n:
        return None
    rate, spread = successes / n, Z * Z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = Z * sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(low, high, n, n, "wilson")


def mean_interval(
    values: Sequence[float], clusters: Sequence[str], level: float = LEVEL, scale: tuple[float, float] | None = None
) -> Interval | None:
    """The t interval of a mean whose values come in clusters: runs of one task resemble each other.

    `clusters` names the group of each value. The standard error is cluster-robust (CR1) with clusters - 1 degrees of
    freedom; with one value per cluster it is the ordinary t interval. None with fewer than two clusters: repeated runs
    of one task say nothing about other tasks. Source: A. C. Cameron and D. L. Miller, J. Hum. Resour. 50 (2015).

    If the clusters do not scatter at all, t knows nothing of the other values that there may be. On a `scale` from its
    least to its greatest value, the interval then allows for as many clusters of any value as may have stayed unseen:
    a share of 1 - ((1 - level) / 2)^(1 / clusters), the upper limit of C. J. Clopper and E. S. Pearson, Biometrika 26
    (1934), for an event that never happened.
    """
    groups = len(set(clusters))
    if groups < 2:
        return None
    mean = fmean(values)
    deviations: defaultdict[str, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        deviations[cluster].append(value - mean)
    between = fsum(fsum(each) ** 2 for each in deviations.values())
    if scale is not None and between <= _NO_SCATTER:
        unseen = 1 - ((1 - level) / 2) ** (1 / groups)
        ends = mean - unseen * (mean - scale[0]), mean + unseen * (scale[1] - mean)
        return Interval(*ends, len(values), groups, "no scatter")
    standard_error = sqrt(between * groups / (groups - 1)) / len(values)
    half = students_t(level, groups - 1) * standard_error
    return Interval(mean - half, mean + half, len(values), groups, "t" if groups == len(values) else "clustered t")


@cache
def students_t(level: float, degrees: int) -> float:
    """The t with P(|T| <= t) = `level`, for Student's distribution with integer `degrees` of freedom.

    P(|T| > t) = I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t^2), the regularised incomplete beta function.
    """
    import mpmath  # type: ignore[import-untyped]

    def excess(x: float) -> float:
        return float(mpmath.betainc(degrees / 2, 0.5, 0, x, regularized=True)) - (1 - level)

    x = float(mpmath.findroot(excess, (0, 1), solver="bisect", maxsteps=100, verify=False))
    return sqrt(degrees * (1 - x) / x)


def pass_power(passes_by_task: Sequence[Sequence[bool]], k: int) -> float | None:
    """The mean over tasks of the chance that k of its runs, drawn at random, all passed; None if no task has k runs.

    pass^k = mean of C(c, k) / C(n, k) for c passes in n runs, which is unbiased. Tasks with fewer than k runs are left
    out. Source: S. Yao et al., tau-bench, arXiv 2406.12045.
    """
    chances = [comb(sum(runs), k) / comb(len(runs), k) for runs in passes_by_task if len(runs) >= k]
    return fmean(chances) if chances else None


Confidence = Literal["insufficient", "low", "adequate"]

ADEQUATE_SCENARIOS: Final = 10
"""The number of different tasks from which on results count as meaningful."""

ADEQUATE_WIDTH: Final = 0.2
"""The widest interval of a score in [0, 1] that still distinguishes teams: a fifth of the scale."""


def confidence_in(interval: Interval | None, n_scenarios: int) -> Confidence:
    """`insufficient` without an interval; `adequate` for a narrow one over enough scenarios; else `low`."""
    if interval is None:
        return "insufficient"
    narrow = interval.width <= ADEQUATE_WIDTH
    return "adequate" if narrow and n_scenarios >= ADEQUATE_SCENARIOS else "low"
