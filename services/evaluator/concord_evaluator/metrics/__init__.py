"""Metrics of the agent graph: each a plugin, found among the entry points of the installed packages.

A package adds its own with an entry point in the group `concord.metrics` that names a sequence of `Metric`:

    [project.entry-points."concord.metrics"]
    mine = "my_package:METRICS"
"""

from concord_evaluator.metrics.catalogue import definition_of
from concord_evaluator.metrics.measuring import LEFT_OUT, measure
from concord_evaluator.metrics.metric import Measured, Metric, Parameter, metric, objection_to, undefined
from concord_evaluator.metrics.registry import ENTRY_POINT_GROUP, BrokenMetricError, installed_metrics, metric_ids
from concord_evaluator.metrics.similarity import TfIdf

__all__ = [
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
    "objection_to",
    "undefined",
]
