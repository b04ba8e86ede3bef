"""Statistics over trials: intervals clustered by task, pass^k, comparisons, ranking, and agreement with labels.

The formulas are written out here, because scipy and statsmodels weigh 370 MB with their dependencies. The tests compare
them with scipy and with values from statsmodels.
"""

from concord_evaluator.statistics.comparison import (
    Comparison,
    Ranks,
    Scores,
    Verdict,
    compare_paired,
    ranks,
    tie_groups,
)
from concord_evaluator.statistics.estimates import (
    ADEQUATE_SCENARIOS,
    ADEQUATE_WIDTH,
    LEVEL,
    Confidence,
    Interval,
    confidence_in,
    mean_interval,
    pass_power,
    rate_interval,
)

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
