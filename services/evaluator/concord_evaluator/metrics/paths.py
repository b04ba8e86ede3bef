"""Paths: how many hops a message takes from one agent to another."""

from collections.abc import Iterator
from math import fsum
from typing import Final

from concord.assessment.results import MetricStatus
from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.metric import Measured, metric, undefined

_ALONE: Final = "fewer than two agents have no way to each other"


@metric("average_path_length", definition_id="average_path_length/messages/reachable_pairs")
def average_path_length(graph: AgentGraph) -> Iterator[Measured]:
    """The mean length of the shortest paths between agents, in messages, over the ordered pairs of which the first can
    reach the second. Read it together with `reachable_pairs`."""
    pairs = graph.distances.pairs
    if len(graph.agents) < 2:
        yield undefined(0, _ALONE)
    elif not pairs:
        yield undefined(0, "nobody can reach anybody")
    else:
        total = sum(distance * count for distance, count in graph.distances.histogram.items())
        yield _measured(graph, total / pairs, pairs)


@metric("reachable_pairs", definition_id="reachable_pairs/messages/share")
def reachable_pairs(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the n(n-1) ordered pairs of agents of which the first can reach the second, directly or through
    others."""
    yield from _over_all_pairs(graph, graph.distances.pairs)


@metric("global_efficiency", definition_id="global_efficiency/messages/directed")
def global_efficiency(graph: AgentGraph) -> Iterator[Measured]:
    """The mean of 1 / distance over all ordered pairs of agents, with 0 for unreachable pairs (Latora and Marchiori
    2001). 1 if all agents talk with each other."""
    yield from _over_all_pairs(graph, fsum(count / distance for distance, count in graph.distances.histogram.items()))


@metric("diameter", definition_id="diameter/messages/strongly_connected")
def diameter(graph: AgentGraph) -> Iterator[Measured]:
    """The length of the longest shortest path between two agents. Defined only if every agent can reach every other."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ALONE)
    elif not graph.message_arcs.is_strongly_connected:
        yield undefined(agents, "not every agent can reach every other")
    else:
        yield _measured(graph, max(graph.distances.histogram), agents)


def _over_all_pairs(graph: AgentGraph, total: float) -> Iterator[Measured]:
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(0, _ALONE)
    else:
        pairs = len(graph.distances.sources) * (agents - 1)
        yield _measured(graph, total / pairs, pairs)


def _measured(graph: AgentGraph, value: float, n: int) -> Measured:
    found = graph.distances
    if not found.sampled:
        return Measured(value, n, engine=found.engine)
    return Measured(
        value,
        n,
        status=MetricStatus.APPROXIMATE,
        reason="estimated from a sample of the agents",
        engine=found.engine,
        params=(("sources", str(len(found.sources))),),
    )


METRICS: Final = (average_path_length, reachable_pairs, global_efficiency, diameter)
