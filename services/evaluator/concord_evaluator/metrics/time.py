"""Time: how much of the work was sequential, and which agents took over from each other."""

from collections.abc import Iterator
from typing import Final

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.metric import Measured, approximate, metric, undefined

_NO_TIMES: Final = "no call says how long it took"
_NO_STARTS: Final = "fewer than two calls say when they began"


@metric("critical_path_ms", definition_id="span/calls/observed_order")
def critical_path_ms(graph: AgentGraph) -> Iterator[Measured]:
    """The longest chain of work (ms): the time in which agents answered calls without waiting for another agent, along
    calls that were each made in the previous call, or began after its end by the clock of the agent that made both."""
    yield _timed(graph, graph.critical_path.span_us / 1000)


@metric("critical_path_share", definition_id="span/work")
def critical_path_share(graph: AgentGraph) -> Iterator[Measured]:
    """The share of all work that lies on the critical path: 1 if no work was done in parallel."""
    path = graph.critical_path
    yield _timed(graph, path.span_us / path.work_us if path.work_us else None)


@metric("parallelism", definition_id="work/span")
def parallelism(graph: AgentGraph) -> Iterator[Measured]:
    """Work over span: the mean number of agents at work at the same time, over the critical path; 1 if no work was done
    in parallel."""
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
    """How often the work changes hands: the share of direct successions of two calls, in causal order, that different
    agents answered (after van der Aalst 2005)."""
    successions = len(graph.performers) - 1
    if successions > 0:
        yield Measured(graph.handovers.total() / successions, successions)
    else:
        yield undefined(0, _NO_STARTS)


@metric("handover_of_work", definition_id="handovers_by_agent/successions")
def handover_of_work(graph: AgentGraph) -> Iterator[Measured]:
    """The share of direct successions of two calls in which this agent answered the first call and another agent the
    second (van der Aalst 2005)."""
    successions = len(graph.performers) - 1
    if successions < 1:
        yield undefined(0, _NO_STARTS)
        return
    for agent in graph.agents:
        yield Measured(graph.handovers[agent] / successions, successions, agent)


METRICS: Final = (critical_path_ms, critical_path_share, parallelism, handover_ratio, handover_of_work)
