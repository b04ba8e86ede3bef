"""Metrics of the agent graph. `registry` lists the built-in ones.

A package adds its own with an entry point in the group `concord.metrics` that names a sequence of `Metric`:

    [project.entry-points."concord.metrics"]
    mine = "my_package:METRICS"
"""

from concord_evaluator.metrics.gemmas import TfIdf
from concord_evaluator.metrics.metric import Measured, Metric, Parameter, metric, parameter_error, undefined
from concord_evaluator.metrics.registry import (
    BUILT_IN_METRICS,
    LEFT_OUT,
    METRICS,
    measure,
)

__all__ = [
    "BUILT_IN_METRICS",
    "LEFT_OUT",
    "METRICS",
    "Measured",
    "Metric",
    "Parameter",
    "TfIdf",
    "measure",
    "metric",
    "parameter_error",
    "undefined",
]
