"""What a metric is: a function of the agent graph, with a name, a definition in words, and parameters."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc

from concord.assessment.results import MetricStatus
from concord_evaluator.graph.engines import Scores


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of a metric, of an agent or of the team, computed from `n` things. No value without a status.

    `engine`: what computed it, where that is not what the metric says. `params`: what else it was computed with.
    """

    value: float | None
    n: int
    agent: str | None = None
    status: MetricStatus = MetricStatus.OK
    reason: str | None = None
    engine: str | None = None
    params: tuple[tuple[str, str], ...] = ()


def undefined(n: int, reason: str, *, status: MetricStatus = MetricStatus.UNDEFINED) -> Measured:
    """No value, and why: what is undefined is never 0."""
    return Measured(value=None, n=n, status=status, reason=reason)


def approximate(value: float | None, n: int, reason: str) -> Measured:
    """A value that stands for what could not be known or computed in full, and why."""
    return Measured(value=value, n=n, status=MetricStatus.APPROXIMATE, reason=reason)


def scored(scores: Scores) -> Iterator[Measured]:
    """The scores of all agents as an engine gave them."""
    for agent, value in scores.values.items():
        yield of_scores(scores, value, len(scores.values), agent)


def of_scores(scores: Scores, value: float, n: int, agent: str | None = None) -> Measured:
    """A value made from scores: as exact as these are."""
    if scores.sources is None:
        return Measured(value, n, agent, engine=scores.engine)
    return Measured(
        value,
        n,
        agent,
        status=MetricStatus.APPROXIMATE,
        reason="estimated from a sample of the agents",
        engine=scores.engine,
        params=(("sources", str(scores.sources)),),
    )


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a metric can be given: its default, and the range in which it means something."""

    default: float
    minimum: float
    maximum: float


def objection_to(parameters: Mapping[str, Parameter], given: Mapping[str, float]) -> str | None:
    """Why these values cannot be taken; None if they can."""
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
    """A metric. `definition_id` names the formula and changes when it does; `definition` says it in words."""

    id: str
    definition_id: str
    definition: str
    compute: Compute
    engine: str = "python"
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


def metric(
    metric_id: str, *, definition_id: str, engine: str = "python", parameters: Mapping[str, Parameter] | None = None
) -> Callable[[Compute], Metric]:
    """Makes a metric of a function, whose docstring is the definition. Raises ValueError if it has none."""

    def made(compute: Compute) -> Metric:
        definition = " ".join(cleandoc(compute.__doc__ or "").split())
        if not definition:
            raise ValueError(f"the metric {metric_id!r} has no definition: write a docstring")
        return Metric(metric_id, definition_id, definition, compute, engine, parameters or {})

    return made
