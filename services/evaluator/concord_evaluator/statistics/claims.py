"""How much may be claimed from how many trials."""

from typing import Final, Literal

from concord_evaluator.statistics.intervals import Interval

Confidence = Literal["insufficient", "low", "adequate"]

ADEQUATE_SCENARIOS: Final = 10
"""Diverse scenarios from which on results are taken for meaningful (PRD, statistical validity)."""

ADEQUATE_WIDTH: Final = 0.2
"""The widest interval of a score in [0, 1] that still tells teams apart: a fifth of the scale."""


def confidence_in(interval: Interval | None, n_scenarios: int) -> Confidence:
    """`insufficient` without an interval, `adequate` for a narrow one over enough scenarios, else `low`."""
    if interval is None:
        return "insufficient"
    narrow = interval.width <= ADEQUATE_WIDTH
    return "adequate" if narrow and n_scenarios >= ADEQUATE_SCENARIOS else "low"
