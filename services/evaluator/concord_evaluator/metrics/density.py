"""Density: how many of the possible edges there are."""

from collections.abc import Iterator

import networkx as nx

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.registry import Measured, metric, undefined


@metric("density", definition="density/messages")
def density(graph: AgentGraph) -> Iterator[Measured]:
    """m / (n(n-1)) of the simple digraph of requests and replies."""
    yield _density(graph.messages)


@metric("density_requests", definition="density/requests")
def density_requests(graph: AgentGraph) -> Iterator[Measured]:
    """The same of requests alone: a team in which everyone calls and nobody is called back reaches at most a half."""
    yield _density(graph.requests)


def _density(graph: "nx.DiGraph[str]") -> Measured:
    agents = graph.number_of_nodes()
    if agents < 2:
        return undefined(agents, "fewer than two agents have no edge to have")
    return Measured(nx.density(graph), agents)
