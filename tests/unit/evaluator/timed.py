"""Calls with times, and metrics of the graphs made from them."""

from collections.abc import Iterable
from datetime import timedelta

from concord.trace.report import Report
from concord.trace.step import InteractionStep
from concord_evaluator.graph import AgentGraph, build_graph
from concord_evaluator.metrics import measure
from tests.kit.traces import RECEIVED_AT, call, projected


def timed(
    step_id: str,
    callee: str,
    start: float | None,
    seconds: float | None,
    *,
    parent: str | None = None,
    error: str | None = None,
) -> InteractionStep:
    """A call that begins `start` seconds after the reference time and takes `seconds`."""
    return call(
        step_id,
        callee,
        parent=parent,
        error=error,
        latency=None if seconds is None else round(1000 * seconds),
        start_time=None if start is None else RECEIVED_AT + timedelta(seconds=start),
    )


def graph_of_reports(*reports: list[Report], agents: Iterable[str] = "ABC") -> AgentGraph:
    return build_graph(projected(*reports, agents=agents))


def value_of(graph: AgentGraph, metric_id: str) -> float | None:
    """The team's value of a metric."""
    (record,) = measure(graph, {metric_id: {}})
    assert record.agent is None
    return record.value


def values_of(graph: AgentGraph, metric_id: str) -> dict[str | None, float | None]:
    """Each agent's value of a metric."""
    return {record.agent: record.value for record in measure(graph, {metric_id: {}})}
