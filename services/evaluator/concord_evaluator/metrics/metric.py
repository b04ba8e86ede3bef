"""The interface of metrics: functions of the agent graph, with a name, a definition in words, and parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import TYPE_CHECKING

from concord.assessment.results import MetricStatus

if TYPE_CHECKING:
    from concord_evaluator.graph.engines import Distances, NodeScores


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of a metric, of an agent or of the team (None), computed from `n` items.

    `engine`: what computed the value, if not the metric's own engine. `params`: further parameters of the computation.
    """

    value: float | None
    n: int
    agent: str | None = None
    status: MetricStatus = MetricStatus.OK
    reason: str | None = None
    engine: str | None = None
    params: tuple[tuple[str, str], ...] = ()


def undefined(n: int, reason: str, *, status: MetricStatus = MetricStatus.UNDEFINED) -> Measured:
    """No value, with the reason. An undefined metric is never 0."""
    return Measured(value=None, n=n, status=status, reason=reason)


def approximate(value: float | None, n: int, reason: str) -> Measured:
    """A value from incomplete data or an estimate, with the reason."""
    return Measured(value=value, n=n, status=MetricStatus.APPROXIMATE, reason=reason)


def scored(scores: NodeScores) -> Iterator[Measured]:
    """The scores of all agents from an engine."""
    for agent, value in scores.values.items():
        yield estimated(scores, value, len(scores.values), agent)


def estimated(found: NodeScores | Distances, value: float, n: int, agent: str | None = None) -> Measured:
    """A value derived from what an engine found: an estimate if that is from a sample of the agents."""
    if found.sample_size is None:
        return Measured(value, n, agent, engine=found.engine)
    return Measured(
        value,
        n,
        agent,
        status=MetricStatus.APPROXIMATE,
        reason="estimated from a sample of the agents",
        engine=found.engine,
        params=(("sources", str(found.sample_size)),),
    )


@dataclass(frozen=True, slots=True)
class Parameter:
    """A numeric parameter of a metric: its default and its valid range."""

    default: float
    minimum: float
    maximum: float


def parameter_error(parameters: Mapping[str, Parameter], given: Mapping[str, float]) -> str | None:
    """The reason why these parameter values are invalid. None if they are valid."""
    for name, value in given.items():
        parameter = parameters.get(name)
        if parameter is None:
            return f"it has no parameter {name!r}"
        if not parameter.minimum <= value <= parameter.maximum:
            return f"{name} must be from {parameter.minimum:g} to {parameter.maximum:g}"
    return None


Compute = Callable[..., Iterable[Measured]]
"""Gets the agent graph, and each parameter by its name."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. `definition_id` identifies the formula and changes with it; `definition` states it in words."""

    id: str
    definition_id: str
    definition: str
    compute: Compute
    engine: str = "python"
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


def metric(
    metric_id: str, *, definition_id: str, engine: str = "python", parameters: Mapping[str, Parameter] | None = None
) -> Callable[[Compute], Metric]:
    """Makes a metric from a function. Its docstring is the definition. Raises ValueError if it has none."""

    def made(compute: Compute) -> Metric:
        definition = " ".join(cleandoc(compute.__doc__ or "").split())
        if not definition:
            raise ValueError(f"the metric {metric_id!r} has no definition: write a docstring")
        return Metric(metric_id, definition_id, definition, compute, engine, parameters or {})

    return made
