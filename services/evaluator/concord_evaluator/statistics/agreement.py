"""Agreement of a judge with reference labels of the same trials."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord_evaluator.statistics.estimates import Interval, rate_interval


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
    """Source: J. Cohen, Educ. Psychol. Meas. 20 (1960); the interval: J. L. Fleiss et al., Psychol. Bull. 72 (1969)."""
    from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]

    table = [[pairs.count((label, judged)) for judged in (True, False)] for label in (True, False)]
    if not pairs or any(len({each[side] for each in pairs}) < 2 for side in (0, 1)):
        return None
    if all(label == judged for label, judged in pairs):
        return Kappa(1.0, None, None)
    found = cohens_kappa(table)  # its interval is at 95 %, as LEVEL
    return Kappa(float(found.kappa), max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp)))
