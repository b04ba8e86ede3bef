"""Which metrics there are, built in and in installed packages; the table of them; and their values for a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from concord.assessment.results import MetricParameter, MetricRecord
from concord_evaluator.metrics import gemmas, process, structure
from concord_evaluator.metrics.metric import Measured, Metric, Parameter, parameter_error, undefined
from concord_evaluator.plugins import METRIC_GROUP, Extensions

if TYPE_CHECKING:
    from concord_evaluator.graph import AgentGraph

# Which metrics there are, built in and in installed packages, and the table that `docs/metrics.md` shows.

BUILT_IN_METRICS: Final[tuple[Metric, ...]] = (
    *structure.CENTRALISATION,
    *structure.CENTRALITY,
    *structure.COHESION,
    *gemmas.METRICS,
    *structure.PATHS,
    *process.PROCESS,
    *process.TIME,
)


def _read(_: str, offered: object) -> Iterator[tuple[str, Metric]]:
    for each in offered if isinstance(offered, Iterable) else (offered,):
        if not isinstance(each, Metric):
            raise TypeError("it is not a sequence of Metric")
        yield each.id, each


METRICS: Final = Extensions(METRIC_GROUP, "metric", _read, {metric.id: metric for metric in BUILT_IN_METRICS})
"""A package adds metrics by an entry point in `METRIC_GROUP`: `name = "module:METRICS"`, a sequence of `Metric`."""


def as_table() -> Iterator[str]:
    """All metrics as the lines of a Markdown table."""
    yield "| Metric | Definition | Parameters |"
    yield "|---|---|---|"
    for metric in METRICS.installed.values():
        yield f"| `{metric.id}`<br>`{metric.definition_id}` | {_cell(metric.definition)} | {_parameters(metric)} |"


def _parameters(metric: Metric) -> str:
    return ", ".join(f"`{name}` {_range(parameter)}" for name, parameter in metric.parameters.items())


def _range(parameter: Parameter) -> str:
    return f"{parameter.default:g} ({parameter.minimum:g} to {parameter.maximum:g})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# Measuring: the chosen metrics of a graph, as records.

LEFT_OUT: Final = "skipped: the evaluation's time was used up"

Choice = Mapping[str, Mapping[str, float]]
"""The ids of metrics, each with the parameters that differ from their defaults."""


def measure(
    graph: AgentGraph, choice: Choice | None = None, *, time_is_up: Callable[[], bool] = lambda: False
) -> list[MetricRecord]:
    """Computes the chosen metrics of a graph (None: all), sorted by id and agent. Unknown ids are ignored.

    A metric with invalid parameters, that fails, or that comes when time is up, is undefined with a reason. It does not
    affect other metrics.
    """
    metrics = METRICS.installed
    chosen: Choice = {metric_id: {} for metric_id in metrics} if choice is None else choice
    return [
        record
        for metric_id in sorted(metrics.keys() & chosen)
        for record in _records(metrics[metric_id], graph, chosen[metric_id], time_is_up)
    ]


def _records(
    metric: Metric, graph: AgentGraph, given: Mapping[str, float], time_is_up: Callable[[], bool]
) -> list[MetricRecord]:
    params = {name: parameter.default for name, parameter in metric.parameters.items()} | dict(given)
    if (objection := parameter_error(metric.parameters, given)) is not None:
        return [_record(metric, undefined(0, objection), _stated(params))]
    if time_is_up():
        return [_record(metric, undefined(0, LEFT_OUT), _stated(params))]
    try:
        measured = sorted(metric.compute(graph, **params), key=lambda measured: measured.agent or "")
        stated = {further: _stated(params, further) for further in {each.params for each in measured}}
        return [_record(metric, each, stated[each.params]) for each in measured]
    except Exception as error:
        return [_record(metric, undefined(0, f"the metric failed: {type(error).__name__}"), _stated(params))]


def _stated(params: Mapping[str, float], further: Iterable[tuple[str, str]] = ()) -> list[MetricParameter]:
    given = ((name, f"{value:g}") for name, value in params.items())
    return [MetricParameter(name=name, value=value) for name, value in (*given, *further)]


def _record(metric: Metric, measured: Measured, params: list[MetricParameter]) -> MetricRecord:
    return MetricRecord(
        id=metric.id,
        agent=measured.agent,
        value=measured.value,
        status=measured.status,
        reason=measured.reason,
        n=measured.n,
        definition_id=metric.definition_id,
        engine=measured.engine or metric.engine,
        params=params,
    )
