"""The registry of metrics: what the installed packages offer."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from concord_evaluator.metrics.metric import Metric

ENTRY_POINT_GROUP: Final = "concord.metrics"
"""A package adds metrics by an entry point in this group: `name = "module:METRICS"`, a sequence of `Metric`."""


class BrokenMetricError(Exception):
    """An installed package offers metrics that cannot be used."""


@cache
def installed_metrics() -> Mapping[str, Metric]:
    """All installed metrics by their ids, sorted. Raises BrokenMetricError."""
    found: dict[str, Metric] = {}
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)):
        package = entry.dist.name if entry.dist is not None else entry.value
        for metric in _offered(entry, package):
            if metric.id in found:
                raise BrokenMetricError(f"{package}: there are two metrics called {metric.id!r}")
            found[metric.id] = metric
    return dict(sorted(found.items()))


def _offered(entry: EntryPoint, package: str) -> Iterator[Metric]:
    try:
        offered = entry.load()
    except Exception as error:
        raise BrokenMetricError(f"{package}: the metrics {entry.name!r} cannot be loaded: {error}") from error
    for each in offered if isinstance(offered, Iterable) else (offered,):
        if not isinstance(each, Metric):
            raise BrokenMetricError(f"{package}: {entry.value} is not a sequence of Metric")
        yield each


def metric_ids() -> list[str]:
    """The ids of all metrics, sorted."""
    return list(installed_metrics())
