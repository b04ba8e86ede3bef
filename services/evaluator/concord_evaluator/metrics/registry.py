"""The registry of metrics: what a metric is, how it registers, and how the chosen ones are computed."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from concord.results import MetricParameter, MetricRecord, MetricStatus
from concord_evaluator.graph import AgentGraph


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of a metric, of an agent or of the team, computed from `n` things. No value without a status."""

    value: float | None
    n: int
    agent: str | None = None
    status: MetricStatus = MetricStatus.OK
    reason: str | None = None
    params: tuple[tuple[str, str], ...] = ()


def undefined(n: int, reason: str, *, status: MetricStatus = MetricStatus.UNDEFINED) -> Measured:
    """No value, and why: what is undefined is never 0."""
    return Measured(value=None, n=n, status=status, reason=reason)


Compute = Callable[[AgentGraph], Iterable[Measured]]


@dataclass(frozen=True, slots=True)
class _Metric:
    definition_id: str
    engine: str
    compute: Compute


_METRICS: Final[dict[str, _Metric]] = {}


def metric(metric_id: str, *, definition: str, engine: str = "networkx") -> Callable[[Compute], Compute]:
    """Registers a function of the agent graph as the metric `metric_id`.

    `definition` names the formula, and changes when the formula does. Raises ValueError if the id is taken.
    """

    def register(compute: Compute) -> Compute:
        if metric_id in _METRICS:
            raise ValueError(f"there are two metrics called {metric_id!r}")
        _METRICS[metric_id] = _Metric(definition, engine, compute)
        return compute

    return register


def metric_ids() -> list[str]:
    """The ids of all metrics, sorted."""
    return sorted(_METRICS)


def measure(graph: AgentGraph, ids: Collection[str] | None = None) -> list[MetricRecord]:
    """The chosen metrics of a graph (None: all of them), sorted by id and agent. Ids that nobody knows are ignored."""
    chosen = metric_ids() if ids is None else sorted(set(ids) & set(_METRICS))
    return [record for metric_id in chosen for record in _records(metric_id, graph)]


def _records(metric_id: str, graph: AgentGraph) -> Iterator[MetricRecord]:
    chosen = _METRICS[metric_id]
    for measured in sorted(chosen.compute(graph), key=lambda measured: measured.agent or ""):
        yield MetricRecord(
            id=metric_id,
            agent=measured.agent,
            value=measured.value,
            status=measured.status,
            reason=measured.reason,
            n=measured.n,
            definition_id=chosen.definition_id,
            engine=chosen.engine,
            params=[MetricParameter(name=name, value=value) for name, value in measured.params],
        )
