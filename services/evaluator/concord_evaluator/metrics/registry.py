"""Which metrics there are, built in and in installed packages, and the table that `docs/metrics.md` shows."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from concord_evaluator.metrics import centralisation, centrality, cohesion, gemmas, paths, process, time
from concord_evaluator.metrics.metric import Metric, Parameter

BUILT_IN_METRICS: Final[tuple[Metric, ...]] = (
    *centralisation.METRICS,
    *centrality.METRICS,
    *cohesion.METRICS,
    *gemmas.METRICS,
    *paths.METRICS,
    *process.METRICS,
    *time.METRICS,
)

ENTRY_POINT_GROUP: Final = "concord.metrics"
"""A package adds metrics by an entry point in this group: `name = "module:METRICS"`, a sequence of `Metric`."""


class BrokenMetricError(Exception):
    """An installed package offers metrics that cannot be used."""


@cache
def installed_metrics() -> Mapping[str, Metric]:
    """The built-in metrics and those of installed packages, sorted by their ids. Raises BrokenMetricError."""
    found = {metric.id: metric for metric in BUILT_IN_METRICS}
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
