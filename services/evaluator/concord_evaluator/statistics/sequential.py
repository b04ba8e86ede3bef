"""An always-valid test of paired differences: it may be read after every pair, and may stop at any of them.

Testing by betting: a bettor who doubts that the mean is at most `bound` stakes a fixed share of the capital on each
difference. Where the doubt is wrong, capital is a nonnegative supermartingale, so that it ever reaches 1 / ALPHA with a
chance of at most ALPHA (Ville's inequality), however often one looks. Several bettors with different shares pool their
capital, because nobody knows the effect beforehand. Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded
random variables by betting, J. R. Stat. Soc. B 86 (2024), sections 4 and B.8 (fixed bets, diversified over a grid).

The differences are in [-1, 1], of pairs in random order, each task equally often. The mean is thus one over these
tasks, and repeated runs of a task say nothing about other tasks. That a round plays no task twice makes the expected
capital smaller after any number of pairs (W. Hoeffding, J. Am. Stat. Assoc. 58 (1963), theorem 4).
`python -m lab.benchmarks power` measures power and errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, exp, inf, log, log1p, sqrt
from statistics import NormalDist, fmean, pstdev
from typing import Final, Literal

ALPHA: Final = 0.05
"""The chance of each wrong verdict, at whatever pair the test stops."""

STAKES: Final = (0.15, 0.35, 0.65, 0.95)
"""What bettors stake, as shares of the most that cannot ruin them."""

POWER: Final = 0.8
"""The chance of a verdict that `pairs_needed` aims at."""

MOST_PAIRS: Final = 100_000
"""A number of pairs that nobody plays."""

ChangeVerdict = Literal["better", "not worse", "worse", "cannot tell"]


@dataclass(slots=True)
class EProcess:
    """The evidence that the mean of differences exceeds `bound`, which must be in (-1, 1)."""

    bound: float
    _capital: list[float] = field(default_factory=lambda: [0.0] * len(STAKES))
    """Of each bettor (natural logarithm)."""

    def add(self, difference: float) -> None:
        """Takes a difference in [-1, 1] into account."""
        for bettor, stake in enumerate(_stakes(self.bound)):
            self._capital[bettor] += log1p(stake * (difference - self.bound))

    @property
    def log_value(self) -> float:
        """The natural logarithm of the mean capital: 0 at the beginning."""
        most = max(self._capital)
        return most + log(fmean(exp(each - most) for each in self._capital))

    @property
    def shown(self) -> bool:
        """Whether the mean is now shown to exceed the bound."""
        return self.log_value >= -log(ALPHA)


def _stakes(bound: float) -> list[float]:
    """By bettor, what is staked for each unit of the difference; a difference of -1 leaves some capital."""
    return [share / (1 + bound) for share in STAKES]


def shown_above(differences: Sequence[float], bound: float) -> bool:
    """Whether the differences show that their mean exceeds the bound, which must be in (-1, 1)."""
    process = EProcess(bound)
    for difference in differences:
        process.add(difference)
    return process.shown


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the differences show of their mean: that it is at least `low`, and that it is at most `high`.

    Either is wrong with a chance of at most `ALPHA`.
    """

    low: float
    high: float


def bounds_of(lows: Sequence[float], highs: Sequence[float]) -> Bounds:
    """The bounds of the mean of differences, each known to lie between its low and its high end; -1 and 1 without
    any."""
    return Bounds(_highest_shown(lows), -_highest_shown([-each for each in highs]))


def _highest_shown(differences: Sequence[float]) -> float:
    """The highest bound that the mean is shown to exceed: evidence falls as the bound rises."""
    low, high = -1.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if shown_above(differences, middle) else (low, middle)
    return low


def change_verdict(lows: Sequence[float], highs: Sequence[float], margin: float) -> ChangeVerdict:
    """Whether differences (new version minus old) show the new one to be better than the old, not worse than it by
    more than `margin` in (0, 1), or worse.

    Each difference is known to lie between its low and its high end: what is not known helps no verdict. A small loss
    may be both worse and within the margin: it is then `not worse`, for which the margin is there.
    """
    if shown_above(lows, 0.0):
        return "better"
    if shown_above(lows, -margin):
        return "not worse"
    return "worse" if shown_above([-each for each in highs], 0.0) else "cannot tell"


def pairs_needed(differences: Sequence[float], margin: float) -> int | None:
    """How many pairs like these, at least two, a verdict takes with a chance of `POWER`; None if no number will do.

    The logarithm of a bettor's capital grows by the mean of its gains, and is about normal.
    """
    if len(differences) < 2:
        return None
    needed = min(_needed(differences, -margin), _needed([-each for each in differences], 0.0))
    return ceil(needed) if needed <= MOST_PAIRS else None


def _needed(differences: Sequence[float], bound: float) -> float:
    """The least number of pairs n with n * gain - z * spread * sqrt(n) = log(2 / ALPHA), over all bettors: about half
    of them earn, so that one has to make twice what is needed."""
    z, goal, least = NormalDist().inv_cdf(POWER), log(2 / ALPHA), inf
    for stake in _stakes(bound):
        gains = [log1p(stake * (each - bound)) for each in differences]
        gain, spread = fmean(gains), pstdev(gains)
        if gain > 0:
            root = (z * spread + sqrt((z * spread) ** 2 + 4 * gain * goal)) / (2 * gain)
            least = min(least, root * root)
    return least
