"""Statistics over trials: intervals clustered by task, pass^k, comparisons, ranking, and agreement with labels.

The formulas are written out here, because scipy and statsmodels weigh 370 MB with their dependencies. The tests compare
them with scipy and with values from statsmodels.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil, comb, copysign, exp, fsum, hypot, inf, log, log1p, sqrt
from statistics import NormalDist, fmean, pstdev, stdev
from typing import Final, Literal, NamedTuple

# Estimates of rates and means from trials: confidence intervals, pass^k, and the claims that they support.

LEVEL: Final = 0.95
"""The default confidence level."""

Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""The normal quantile of `LEVEL`."""


_NO_SCATTER: Final = 1e-18
"""A sum of squares that is a rounding error."""

_ROUNDING: Final = 1e-9


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


# Agreement of a judge with reference labels of the same trials.

BOTH: Final = (True, False)
"""A pass, and a failure."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `n`, with Wilson's interval. Value and interval are None if `n` is 0."""

    count: int
    n: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa: agreement beyond chance, 1 at best, 0 for guessing; with the ends of its asymptotic interval.

    The ends are None if all pairs agree: the variance is 0 then, and an interval of zero width would be misleading.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a judge with labels. `false_pass`: of the labelled failures; `false_fail`: of the labelled passes.

    `kappa` is None where it is undefined: without pairs, or if the labels or the judgments are all the same.
    """

    accuracy: Rate
    false_pass: Rate
    false_fail: Rate
    kappa: Kappa | None


def agreement(pairs: Sequence[tuple[bool, bool]]) -> Agreement:
    """The agreement over pairs (label, judgment). True is a pass."""
    failed = [judged for label, judged in pairs if not label]
    passed = [judged for label, judged in pairs if label]
    return Agreement(
        accuracy=_rate(sum(label == judged for label, judged in pairs), len(pairs)),
        false_pass=_rate(sum(failed), len(failed)),
        false_fail=_rate(passed.count(False), len(passed)),
        kappa=_kappa(pairs),
    )


def _rate(count: int, n: int) -> Rate:
    return Rate(count, n, count / n if n else None, rate_interval(count, n))


def _kappa(pairs: Sequence[tuple[bool, bool]]) -> Kappa | None:
    """Source: J. Cohen, Educ. Psychol. Meas. 20 (1960); the variance: J. L. Fleiss et al., Psychol. Bull. 72 (1969)."""
    n = len(pairs)
    labels = {side: sum(label is side for label, _ in pairs) / n for side in BOTH} if n else {}
    judgments = {side: sum(judged is side for _, judged in pairs) / n for side in BOTH} if n else {}
    if not n or 1.0 in labels.values() or 1.0 in judgments.values():
        return None
    if all(label == judged for label, judged in pairs):
        return Kappa(1.0, None, None)
    cell = {(label, judged): pairs.count((label, judged)) / n for label in BOTH for judged in BOTH}
    observed = cell[True, True] + cell[False, False]
    expected = fsum(labels[side] * judgments[side] for side in BOTH)
    value = (observed - expected) / (1 - expected)
    agreeing = fsum(
        cell[side, side] * ((1 - expected) - (labels[side] + judgments[side]) * (1 - observed)) ** 2 for side in BOTH
    )
    differing = fsum(cell[side, not side] * (judgments[side] + labels[not side]) ** 2 for side in BOTH)
    beyond = agreeing + (1 - observed) ** 2 * differing - (observed * expected - 2 * expected + observed) ** 2
    half = Z * sqrt(max(0.0, beyond) / n) / (1 - expected) ** 2
    return Kappa(value, max(-1.0, value - half), min(1.0, value + half))


# Comparing teams: two on the tasks that both have run, and a ranking of many by the differences that are shown.

Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""A team's scores by task and puzzle: what one run of the task played."""

ComparisonVerdict = Literal["better", "not worse", "worse", "no difference shown", "too few tasks"]
"""What is shown of the second of two teams, or of the new one of two versions."""


def fewest_tasks(level: float = LEVEL) -> int:
    """The number of tasks from which on a difference is called shown: 6 at 95 %.

    It is the least number of tasks that all favour one team by chance no more often than `level` allows (sign test: 2 /
    2^n). For fewer tasks with about equal differences, the t interval alone would be too narrow.
    """
    return ceil(log(2 / (1 - level), 2) - _ROUNDING)


def comparison_verdict(
    ends: tuple[float, float] | None, tasks: int, level: float = LEVEL, margin: float | None = None
) -> ComparisonVerdict:
    """The conclusion that the ends of the interval of a difference support; None if there is no interval.

    Too few tasks support none, however large the difference. `margin`: a loss that passes, as `not worse`.
    """
    if ends is None or tasks < fewest_tasks(level):
        return "too few tasks"
    low, high = ends
    if low > 0:
        return "better"
    if margin is not None and low > -margin:
        return "not worse"
    return "worse" if high < 0 else "no difference shown"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference (second minus first) over shared tasks, and its interval at `level`.

    `paired_trials`: the puzzles of shared tasks that both teams have played. `detectable`: the least difference that
    tasks which scatter like these would show, with a chance of about `POWER`; None if they would show none. `spread`:
    the standard deviation of the differences on tasks; None if they do not scatter.
    """

    shared_tasks: int
    paired_trials: int
    difference: float
    interval: Interval | None
    level: float
    detectable: float | None = None
    spread: float | None = None

    def verdict(self, margin: float | None = None) -> ComparisonVerdict:
        """As in `comparison_verdict`."""
        ends = None if self.interval is None else (self.interval.low, self.interval.high)
        return comparison_verdict(ends, self.shared_tasks, self.level, margin)


def compare_paired(first: Scores, second: Scores, level: float = LEVEL) -> Comparison | None:
    """Compares scores task by task. None without a shared task.

    The difference on a task is the mean over shared puzzles, or without any, the difference of the means over all runs.
    Pairing removes the difficulty of tasks, which varies more than teams do. The interval is over tasks, not trials,
    because runs of one task resemble each other.
    """
    shared = sorted(task for task in first.keys() & second.keys() if first[task] and second[task])
    if not shared:
        return None
    puzzles = [first[task].keys() & second[task].keys() for task in shared]
    differences = [
        _mean(second[task], common or second[task]) - _mean(first[task], common or first[task])
        for task, common in zip(shared, puzzles, strict=True)
    ]
    difference, interval = fmean(differences), mean_interval(differences, shared, level)
    spread, detectable = None, None
    if interval is not None and interval.width > _ROUNDING:
        spread = stdev(differences)
        detectable = detectable_difference(spread, len(shared), level)
    elif interval is not None:
        interval, detectable = _steady(difference, len(shared), level)
    return Comparison(len(shared), sum(map(len, puzzles)), difference, interval, level, detectable, spread)


def _steady(difference: float, tasks: int, level: float) -> tuple[Interval, float]:
    """The interval of a difference in [-1, 1] that is the same on each task, of whose scatter t knows nothing; and the
    least difference that would be shown.

    A share of other tasks may have stayed unseen (as in `mean_interval`): tasks without a difference, or with the
    greatest in the same direction. If no task shows a difference, they may have the greatest in either direction.
    """
    unseen = 1 - ((1 - level) / 2) ** (1 / tasks)
    ends = ((1 - unseen) * difference, difference + unseen * (copysign(1, difference) - difference))
    # Beside 1, rounding may put an end on the other side of the difference.
    low, _, high = (-unseen, 0, unseen) if abs(difference) < _ROUNDING else sorted((*ends, difference))
    return Interval(low, high, tasks, tasks, "no scatter"), unseen


def compare_unpaired(
    first: Sequence[float], second: Sequence[float], level: float = LEVEL, scale: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """The ends of the interval of the difference of two means (second minus first) of values that no task pairs.

    Each mean's own interval (see `mean_interval`; every value is a cluster) is joined with the other's. None for fewer
    than `fewest_tasks` values on either side. Source: G. Y. Zou and A. Donner, Stat. Med. 27 (2008), "MOVER".
    """
    if min(len(first), len(second)) < fewest_tasks(level):
        return None
    one, other = (mean_interval(each, list(map(str, range(len(each)))), level, scale) for each in (first, second))
    assert one is not None and other is not None  # nosec B101  # noqa: S101, PT018 - there are values enough
    means = fmean(first), fmean(second)
    gap = means[1] - means[0]
    below, above = hypot(means[1] - other.low, one.high - means[0]), hypot(other.high - means[1], means[0] - one.low)
    return gap - below, gap + above


def _mean(scores: Mapping[str, Sequence[float]], puzzles: Iterable[str]) -> float:
    """The mean over puzzles of the mean over the runs of each."""
    return fmean(fmean(scores[puzzle]) for puzzle in sorted(puzzles))


Pair = tuple[str, str]
"""The better and the worse team of a shown difference."""


class Ranks(NamedTuple):
    """The best and the worst possible rank of a team, from 1."""

    best: int
    worst: int


def ranks(teams: Sequence[str], better: Collection[Pair]) -> dict[str, Ranks]:
    """The possible ranks of each team: below all that are shown to be better, above all that are shown to be worse."""
    return {
        team: Ranks(
            1 + sum(loser == team for _, loser in better),
            len(teams) - sum(winner == team for winner, _ in better),
        )
        for team in teams
    }


def tie_groups(teams: Sequence[str], better: Collection[Pair]) -> list[list[str]]:
    """The maximal groups in which no team is shown to be better than another, in the order of the teams.

    Ties are not transitive: a may tie with b and b with c, while a is better than c. Then b is in two groups.
    """
    import networkx as nx  # an image that only shows results has none

    position = {team: number for number, team in enumerate(teams)}
    different = {frozenset(pair) for pair in better}
    tied: nx.Graph[str] = nx.Graph()
    tied.add_nodes_from(teams)
    tied.add_edges_from((one, other) for one in teams for other in teams if frozenset((one, other)) not in different)
    tied.remove_edges_from(nx.selfloop_edges(tied))
    return sorted(
        (sorted(group, key=position.__getitem__) for group in nx.find_cliques(tied)),
        key=lambda group: [position[team] for team in group],
    )


# The difference between two versions that so many paired trials can show.

POWER: Final = 0.8
"""The chance that a detectable difference is shown."""


def detectable_difference(spread: float, pairs: int, level: float = LEVEL) -> float | None:
    """The mean difference in [0, 1] that `pairs` paired trials show at `level` with a chance of about `POWER`.

    `spread`: the standard deviation of the differences of pairs. None for fewer than two pairs, and if they would not
    even show the whole scale. It is that of a fixed number of pairs (t test); `concord gate`, which may stop at any
    pair, takes about twice as many.
    """
    if pairs < 2:
        return None
    difference = (students_t(level, pairs - 1) + NormalDist().inv_cdf(POWER)) * spread / sqrt(pairs)
    return difference if difference <= 1 else None


def pairs_to_show(difference: float, spread: float, level: float = LEVEL) -> int:
    """The fewest pairs, from `fewest_tasks` on, that show a difference in (0, 1] as `detectable_difference` says."""
    normal = NormalDist()
    least = ((normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(POWER)) * spread / difference) ** 2
    pairs = max(fewest_tasks(level), ceil(least))  # those that would do if the spread were known
    while (detectable_difference(spread, pairs, level) or inf) > difference:
        pairs += 1
    return pairs


def likely_spread(scores: Sequence[float]) -> float:
    """The standard deviation of the differences that one version's scores in [0, 1], at least one, let expect.

    It is that of the scores, as if the scores of both versions were correlated by one half. One score of 0 and one of 1
    are added, so that equal scores do not seem to exclude all others (as A. Agresti and B. Coull do for rates, Am.
    Stat. 52 (1998)).
    """
    return stdev([*scores, 0.0, 1.0])


# An always-valid test of paired differences: it may be read after every pair, and may stop at any of them.
#
# Testing by betting: a bettor who doubts that the mean is at most `bound` stakes a fixed share of the capital on
# each difference. Where the doubt is wrong, capital is a nonnegative supermartingale, so that it ever reaches 1 /
# ALPHA with a chance of at most ALPHA (Ville's inequality), however often one looks. Several bettors with different
# shares pool their capital, because nobody knows the effect beforehand. Source: I. Waudby-Smith and A. Ramdas,
# Estimating means of bounded random variables by betting, J. R. Stat. Soc. B 86 (2024), sections 4 and B.8 (fixed
# bets, diversified over a grid).
#
# The differences are in [-1, 1], of pairs in random order, each task equally often. The mean is thus one over these
# tasks, and repeated runs of a task say nothing about other tasks. That a round plays no task twice makes the
# expected capital smaller after any number of pairs (W. Hoeffding, J. Am. Stat. Assoc. 58 (1963), theorem 4).
# `python -m lab.benchmarks power` measures power and errors.

ALPHA: Final = 0.05
"""The chance of each wrong verdict, at whatever pair the test stops."""

STAKES: Final = (0.15, 0.35, 0.65, 0.95)
"""What bettors stake, as shares of the most that cannot ruin them."""


MOST_PAIRS: Final = 100_000
"""A number of pairs that nobody plays."""


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


def change_verdict(lows: Sequence[float], highs: Sequence[float], margin: float) -> ComparisonVerdict:
    """Whether differences (new version minus old) show the new one to be better than the old, not worse than it by
    more than `margin` in (0, 1), or worse.

    Each difference is known to lie between its low and its high end: what is not known helps no verdict. A small loss
    may be both worse and within the margin: it is then `not worse`, for which the margin is there.
    """
    if shown_above(lows, 0.0):
        return "better"
    if shown_above(lows, -margin):
        return "not worse"
    return "worse" if shown_above([-each for each in highs], 0.0) else "no difference shown"


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
