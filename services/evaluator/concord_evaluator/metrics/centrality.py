"""Centrality: how central each agent is."""

from collections.abc import Iterator
from typing import Final

from concord_evaluator.graph import AgentGraph, engines
from concord_evaluator.metrics.metric import Measured, Parameter, metric, of_scores, scored, undefined

_ALONE: Final = "there is only one agent"
_NOBODY_BETWEEN: Final = "there are fewer than three agents"


@metric("degree_centrality", definition_id="degree_centrality/messages/undirected")
def degree_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the other agents with which an agent exchanged a message."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ALONE)
        return
    for agent, partners in zip(graph.agents, graph.contact_arcs.out_degrees.tolist(), strict=True):
        yield Measured(partners * (1 / (agents - 1)), agents, agent)


@metric("betweenness_centrality", definition_id="betweenness_centrality/messages/normalized")
def betweenness_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the shortest paths between others that pass through an agent (Brandes 2001): for every pair of
    others the share of their shortest paths, summed and divided by (n-1)(n-2)."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _NOBODY_BETWEEN)
        return
    yield from scored(graph.betweenness)


@metric("max_betweenness", definition_id="betweenness_centrality/messages/normalized/max")
def max_betweenness(graph: AgentGraph) -> Iterator[Measured]:
    """The highest betweenness of an agent."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _NOBODY_BETWEEN)
        return
    yield of_scores(graph.betweenness, max(graph.betweenness.values.values()), agents)


@metric("closeness_centrality", definition_id="closeness_centrality/messages/incoming/wasserman_faust")
def closeness_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The nearness of an agent to the agents whose messages can reach it: the share of such agents among the others,
    divided by their mean distance (Freeman 1979, Wasserman and Faust 1994). 0 for an agent that no messages reach."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ALONE)
        return
    yield from scored(engines.closeness(graph.message_arcs, graph.distances))


@metric("eigenvector_centrality", definition_id="eigenvector_centrality/messages/incoming")
def eigenvector_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The centrality of an agent by the centrality of the agents that send it messages: the eigenvector of the largest
    eigenvalue, of length 1 (Bonacich 1972). Defined only if every agent can reach every other: otherwise the vector is
    not unique, or 0 for many agents."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ALONE)
    elif not graph.message_arcs.is_strongly_connected:
        yield undefined(agents, "not every agent can reach every other")
    elif (scores := engines.eigenvector(graph.message_arcs)) is None:
        yield undefined(agents, "the iteration did not converge")
    else:
        yield from scored(scores)


@metric("pagerank", definition_id="pagerank/messages/weighted", parameters={"damping": Parameter(0.85, 0.01, 0.95)})
def pagerank(graph: AgentGraph, damping: float) -> Iterator[Measured]:
    """How often a random walk visits an agent (Brin and Page 1998). The walk follows messages, by their number, and
    with probability 1 - damping jumps to any agent. The sum over all agents is 1."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ALONE)
        return
    yield from scored(engines.pagerank(graph.message_arcs, damping))


METRICS: Final = (
    degree_centrality,
    betweenness_centrality,
    max_betweenness,
    closeness_centrality,
    eigenvector_centrality,
    pagerank,
)
