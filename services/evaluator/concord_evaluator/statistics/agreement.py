"""How far a judge agrees with labels that were given to the same trials by somebody who knows."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord_evaluator.statistics.estimates import Interval, rate_interval


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `n`, with Wilson's interval; the value and the interval are None where `n` is 0."""

    count: int
    n: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa: agreement beyond chance, 1 at best, 0 for guessing; with the ends of its asymptotic interval.

    The ends are None where all agree: the variance is 0 then, and an interval of no width would claim too much.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of a judge with labels. `false_pass`: of what is labelled a failure; `false_fail`: of what is labelled a pass.

    `kappa` is None where it is undefined: one of the two says the same of everything, or there is nothing.
    """

    accuracy: Rate
    false_pass: Rate
    false_fail: Rate
    kappa: Kappa | None


def agreement(said: Sequence[tuple[bool, bool]]) -> Agreement:
    """The agreement of pairs (label, judge); True is a pass."""
    failed = [judged for label, judged in said if not label]
    passed = [judged for label, judged in said if label]
    return Agreement(
        accuracy=_rate(sum(label == judged for label, judged in said), len(said)),
        false_pass=_rate(sum(failed), len(failed)),
        false_fail=_rate(passed.count(False), len(passed)),
        kappa=_kappa(said),
    )


def _rate(count: int, n: int) -> Rate:
    return Rate(count, n, count / n if n else None, rate_interval(count, n))


def _kappa(said: Sequence[tuple[bool, bool]]) -> Kappa | None:
    """Source: J. Cohen, Educ. Psychol. Meas. 20 (1960); the interval: J. L. Fleiss et al., Psychol. Bull. 72 (1969)."""
    from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]

    table = [[said.count((label, judged)) for judged in (True, False)] for label in (True, False)]
    if not said or any(len({each[side] for each in said}) < 2 for side in (0, 1)):
        return None
    if all(label == judged for label, judged in said):
        return Kappa(1.0, None, None)
    found = cohens_kappa(table)  # its interval is at 95 %, as LEVEL
    return Kappa(float(found.kappa), max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp)))
