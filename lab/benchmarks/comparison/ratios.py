"""The ratio of two trees' figures, with its confidence interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, median

from concord_evaluator.statistics import mean_interval


@dataclass(frozen=True, slots=True)
class Ratio:
    """New over old. `old`, `new`: medians; `low` and `high`: the ends of the 95 % interval, None of one round."""

    old: float
    new: float
    value: float
    low: float | None
    high: float | None


def ratio(old: Sequence[float], new: Sequence[float]) -> Ratio:
    """The geometric mean of the rounds' ratios, and its t interval on the logarithmic scale.

    The two figures of a round are neighbours in time, so that other load on the machine hardly moves their ratio.
    Raises ValueError for figures that are not positive, or of different numbers of rounds.
    """
    logs = [log(after / before) for before, after in zip(old, new, strict=True)]
    interval = mean_interval(logs, [str(number) for number in range(len(logs))])
    ends = (None, None) if interval is None else (exp(interval.low), exp(interval.high))
    return Ratio(median(old), median(new), exp(fmean(logs)), *ends)
