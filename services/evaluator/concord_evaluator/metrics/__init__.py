"""Metrics of the agent graph. `registry` lists the built-in ones.

A package adds its own with an entry point in the group `concord.metrics` that names a sequence of `Metric`:

    [project.entry-points."concord.metrics"]
    mine = "my_package:METRICS"
"""

from concord_evaluator.metrics.gemmas import TfIdf
from concord_evaluator.metrics.metric import Measured, Metric, Parameter, metric, parameter_error, undefined
from concord_evaluator.metrics.registry import (
    BUILT_IN_METRICS,
    ENTRY_POINT_GROUP,
    LEFT_OUT,
    BrokenMetricError,
    definition_of,
    installed_metrics,
    measure,
    metric_ids,
)

__all__ = [
    "BUILT_IN_METRICS",
    "ENTRY_POINT_GROUP",
    "LEFT_OUT",
    "BrokenMetricError",
    "Measured",
    "Metric",
    "Parameter",
    "TfIdf",
    "definition_of",
    "installed_metrics",
    "measure",
    "metric",
    "metric_ids",
    "parameter_error",
    "undefined",
]
