"""Which metrics there are, built in and in installed packages, and the table that `docs/metrics.md` shows."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from concord_evaluator.metrics import centralisation, centrality, cohesion, gemmas, paths, process, time
from concord_evaluator.metrics.metric import Metric, Parameter
from concord_evaluator.plugins import METRICS, Plugin, installed_plugins

BUILT_IN_METRICS: Final[tuple[Metric, ...]] = (
    *centralisation.METRICS,
    *centrality.METRICS,
    *cohesion.METRICS,
    *gemmas.METRICS,
    *paths.METRICS,
    *process.METRICS,
    *time.METRICS,
)

ENTRY_POINT_GROUP: Final = METRICS
"""A package adds metrics by an entry point in this group: `name = "module:METRICS"`, a sequence of `Metric`."""


class BrokenMetricError(Exception):
    """An installed package offers metrics that cannot be used."""


@cache
def installed_metrics() -> Mapping[str, Metric]:
    """The built-in metrics and those of installed packages, sorted by their ids. Raises BrokenMetricError."""
    found = {metric.id: metric for metric in BUILT_IN_METRICS}
    for plugin in installed_plugins(ENTRY_POINT_GROUP, "metrics", BrokenMetricError):
        for metric in _offered(plugin):
            if metric.id in found:
                raise BrokenMetricError(f"{plugin.package}: there are two metrics called {metric.id!r}")
            found[metric.id] = metric
    return dict(sorted(found.items()))


def _offered(plugin: Plugin) -> Iterator[Metric]:
    for each in plugin.object if isinstance(plugin.object, Iterable) else (plugin.object,):
        if not isinstance(each, Metric):
            raise BrokenMetricError(f"{plugin.package}: {plugin.reference} is not a sequence of Metric")
        yield each


def metric_ids() -> list[str]:
    """The ids of all metrics, sorted."""
    return list(installed_metrics())


def definition_of(definition_id: str) -> str | None:
    """The definition in words of a formula. None where no metric has that definition id."""
    return next((each.definition for each in installed_metrics().values() if each.definition_id == definition_id), None)


def as_table() -> Iterator[str]:
    """All metrics as the lines of a Markdown table."""
    yield "| Metric | Definition | Parameters |"
    yield "|---|---|---|"
    for metric in installed_metrics().values():
        yield f"| `{metric.id}`<br>`{metric.definition_id}` | {_cell(metric.definition)} | {_parameters(metric)} |"


def _parameters(metric: Metric) -> str:
    return ", ".join(f"`{name}` {_range(parameter)}" for name, parameter in metric.parameters.items())


def _range(parameter: Parameter) -> str:
    return f"{parameter.default:g} ({parameter.minimum:g} to {parameter.maximum:g})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
