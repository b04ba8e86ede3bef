"""Cohesion: how closely a team is connected."""

from collections.abc import Iterator
from math import fsum
from typing import Final

import numpy as np

from concord_evaluator.graph import AgentGraph, engines
from concord_evaluator.metrics.metric import Measured, metric, of_scores, undefined


@metric("density", definition_id="density/messages")
def density(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the possible connections that exist: m / (n(n-1)) of the simple digraph of requests and replies."""
    yield _density(graph.message_arcs)


@metric("density_requests", definition_id="density/requests")
def density_requests(graph: AgentGraph) -> Iterator[Measured]:
    """The density of requests alone, without replies. At most 0.5 if no agent calls back an agent that called it."""
    yield _density(graph.request_arcs)


def _density(graph: engines.Arcs) -> Measured:
    if graph.density is None:
        return undefined(len(graph), "there are fewer than two agents")
    return Measured(graph.density, len(graph))


@metric("clustering", definition_id="average_clustering/messages/undirected")
def clustering(graph: AgentGraph) -> Iterator[Measured]:
    """The mean, over all agents, of the share of pairs of an agent's partners that are partners of each other (Watts
    and Strogatz 1998). An agent with fewer than two partners counts 0. Directions are ignored."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, "there are fewer than three agents")
        return
    scores = engines.clustering(graph.contact_arcs)
    yield of_scores(scores, fsum(scores.values.values()) / len(scores.values), agents)


@metric("connected_components", definition_id="weakly_connected_components/messages/count", engine="rustworkx")
def connected_components(graph: AgentGraph) -> Iterator[Measured]:
    """The number of parts of the team without a message between them; 1 for a connected team."""
    agents = len(graph.agents)
    if not agents:
        yield undefined(0, "there are no agents")
        return
    yield Measured(graph.message_arcs.n_components, agents)


@metric("reciprocity", definition_id="reciprocity/requests/weighted")
def reciprocity(graph: AgentGraph) -> Iterator[Measured]:
    """The share of requests that are returned: for each pair of agents, the smaller of the two numbers of requests
    counts for both directions (Squartini et al. 2013). Replies do not count, because every answered request has one."""
    requests = graph.request_arcs
    total = int(requests.weights.sum())
    if not total:
        yield undefined(0, "there are no requests")
        return
    yield Measured(int(np.minimum(requests.weights, requests.returned).sum()) / total, total)


METRICS: Final = (density, density_requests, clustering, connected_components, reciprocity)
