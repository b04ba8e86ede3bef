"""Time: how much of the work was sequential, and which agents took over from each other."""

from collections.abc import Iterator
from typing import Final

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.metric import Measured, approximate, metric, undefined

_NO_TIMES: Final = "no call says how long it took"
_NO_STARTS: Final = "fewer than two calls say when they began"


@metric("critical_path_ms", definition_id="span/calls/observed_order")
def critical_path_ms(graph: AgentGraph) -> Iterator[Measured]:
    """The longest chain of work (ms): time in which an agent answered a call without waiting for another agent, along
    calls of which each was made in the one before, or began after it had ended by the clock of whoever made both."""
    yield _timed(graph, graph.critical_path.span_us / 1000)


@metric("critical_path_share", definition_id="span/work")
def critical_path_share(graph: AgentGraph) -> Iterator[Measured]:
    """The share of all work that lies on the critical path: 1 where nothing was done side by side."""
    path = graph.critical_path
    yield _timed(graph, path.span_us / path.work_us if path.work_us else None)


@metric("parallelism", definition_id="work/span")
def parallelism(graph: AgentGraph) -> Iterator[Measured]:
    """Work over span: how many agents were at work at once, on average over the critical path; 1 where nothing was done
    side by side."""
    path = graph.critical_path
    yield _timed(graph, path.work_us / path.span_us if path.span_us else None)


def _timed(graph: AgentGraph, value: float | None) -> Measured:
    timed, complete = graph.critical_path.timed, graph.critical_path.complete
    if not timed:
        return undefined(0, _NO_TIMES)
    if value is None:
        return undefined(timed, "no time passed")
    return Measured(value, timed) if complete else approximate(value, timed, "not every call says when and how long")


@metric("handover_ratio", definition_id="handovers/successions")
def handover_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """How often the work changes hands: of each two calls that began one right after the other, the share that
    different agents answered (after van der Aalst 2005; direct succession, in causal order)."""
    successions = len(graph.performers) - 1
    if successions > 0:
        yield Measured(graph.handovers.total() / successions, successions)
    else:
        yield undefined(0, _NO_STARTS)


@metric("handover_of_work", definition_id="handovers_by_agent/successions")
def handover_of_work(graph: AgentGraph) -> Iterator[Measured]:
    """The share of direct successions in which another agent took over from this one (van der Aalst 2005): of each
    two calls that began one right after the other, it answered the first and another agent the second."""
    successions = len(graph.performers) - 1
    if successions < 1:
        yield undefined(0, _NO_STARTS)
        return
    for agent in graph.agents:
        yield Measured(graph.handovers[agent] / successions, successions, agent)


METRICS: Final = (critical_path_ms, critical_path_share, parallelism, handover_ratio, handover_of_work)
