"""Statistics over trials: intervals that know that runs of one task are alike, pass^k, comparisons, ranking.

The libraries behind it take seconds to import, so each function imports what it needs.
"""

from concord_evaluator.statistics.claims import ADEQUATE_SCENARIOS, ADEQUATE_WIDTH, Confidence, confidence_in
from concord_evaluator.statistics.intervals import LEVEL, Interval, mean_interval, rate_interval
from concord_evaluator.statistics.pairs import Comparison, Scores, Verdict, compare_paired
from concord_evaluator.statistics.passes import pass_power
from concord_evaluator.statistics.ranking import Ranks, ranks, tie_groups

__all__ = [
    "ADEQUATE_SCENARIOS",
    "ADEQUATE_WIDTH",
    "LEVEL",
    "Comparison",
    "Confidence",
    "Interval",
    "Ranks",
    "Scores",
    "Verdict",
    "compare_paired",
    "confidence_in",
    "mean_interval",
    "pass_power",
    "ranks",
    "rate_interval",
    "tie_groups",
]
