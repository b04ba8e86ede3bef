"""Metrics of the agent graph: each a small plugin in a module of this package, found by being there."""

from importlib import import_module
from pkgutil import iter_modules

from concord_evaluator.metrics.registry import Measured, measure, metric, metric_ids, undefined

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Measured", "measure", "metric", "metric_ids", "undefined"]
