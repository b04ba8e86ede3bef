"""Centrality: how much an agent is in the middle of things."""

from collections.abc import Iterator

import networkx as nx

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.registry import Measured, metric, undefined


@metric("degree_centrality", definition="degree_centrality/messages/undirected")
def degree_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the other agents with whom an agent exchanged any message."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, "a single agent has no others")
        return
    for agent, value in nx.degree_centrality(graph.messages.to_undirected()).items():
        yield Measured(value, agents, agent)


@metric("betweenness_centrality", definition="betweenness_centrality/messages/normalized")
def betweenness_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the shortest paths between others that pass through an agent (Brandes 2001)."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, "fewer than three agents have no one between them")
        return
    for agent, value in _betweenness(graph).items():
        yield Measured(value, agents, agent)


@metric("max_betweenness", definition="betweenness_centrality/messages/normalized/max")
def max_betweenness(graph: AgentGraph) -> Iterator[Measured]:
    """The betweenness of the agent that has most of it."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, "fewer than three agents have no one between them")
        return
    yield Measured(max(_betweenness(graph).values()), agents)


def _betweenness(graph: AgentGraph) -> dict[str, float]:
    return nx.betweenness_centrality(graph.messages, normalized=True)
