"""Agreement of a judge with reference labels of the same trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Final

from concord_evaluator.statistics.estimates import Interval, Z, rate_interval

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
