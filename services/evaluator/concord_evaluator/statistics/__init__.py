"""Statistics over trials: intervals that know that runs of one task are alike, pass^k, and how much may be claimed.

The libraries behind it take seconds to import, so each function imports what it needs.
"""

from concord_evaluator.statistics.claims import ADEQUATE_SCENARIOS, ADEQUATE_WIDTH, Confidence, confidence_in
from concord_evaluator.statistics.intervals import Interval, mean_interval, rate_interval
from concord_evaluator.statistics.pairs import Comparison, compare_paired
from concord_evaluator.statistics.passes import pass_power

__all__ = [
    "ADEQUATE_SCENARIOS",
    "ADEQUATE_WIDTH",
    "Comparison",
    "Confidence",
    "Interval",
    "compare_paired",
    "confidence_in",
    "mean_interval",
    "pass_power",
    "rate_interval",
]
