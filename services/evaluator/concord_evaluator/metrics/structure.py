"""Metrics of the structure: who dominates, how central each agent is, and how closely a team is connected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import fsum
from typing import TYPE_CHECKING, Final

from concord.assessment.results import MetricStatus
from concord_evaluator.metrics.metric import Measured, Parameter, estimated, metric, scored, undefined

if TYPE_CHECKING:
    from concord_evaluator.graph import AgentGraph, engines

# Centralisation: how much one agent dominates the others.

_TOO_FEW: Final = "there are fewer than three agents"


@metric("degree_centralisation", definition_id="centralisation/degree/messages/freeman")
def degree_centralisation(graph: AgentGraph) -> Iterator[Measured]:
    """The lead of the agent with most partners: the sum of its differences to the others, over the largest possible
    sum, (n-1)(n-2) (Freeman 1979). 1 for a star, 0 if all agents have equally many."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _TOO_FEW)
        return
    partners = graph.contact_arcs.out_degrees.tolist()
    yield Measured(_lead(partners) / ((agents - 1) * (agents - 2)), agents)


@metric("betweenness_centralisation", definition_id="centralisation/betweenness/messages/freeman")
def betweenness_centralisation(graph: AgentGraph) -> Iterator[Measured]:
    """The lead of the agent with the highest betweenness: the sum of its differences to the normalised betweenness of
    the others, over n-1 (Freeman 1979). 1 for a star, 0 if all agents have the same."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _TOO_FEW)
        return
    scores = graph.betweenness
    yield estimated(scores, _lead(scores.values.values()) / (agents - 1), agents)


def _lead(values: Iterable[float]) -> float:
    """The sum of the differences to the largest value."""
    found = list(values)
    largest = max(found)
    return fsum(largest - value for value in found)


@metric("message_share", definition_id="messages_of_agent/messages")
def message_share(graph: AgentGraph) -> Iterator[Measured]:
    """The share of all messages that an agent sent or received; 1 for the hub of a star. A message has two ends, so the
    shares add up to 2. Two agents each have all messages, so there is no value."""
    if (none := _no_shares(graph)) is not None:
        yield none
        return
    for agent, load in graph.loads.items():
        yield Measured(load / graph.n_messages, graph.n_messages, agent)


@metric("hub_share", definition_id="messages_of_agent/messages/max")
def hub_share(graph: AgentGraph) -> Iterator[Measured]:
    """The largest share of all messages that one agent sent or received: 1 if all messages go through a hub, 2/n if all
    agents have equally many."""
    yield _no_shares(graph) or Measured(max(graph.loads.values()) / graph.n_messages, graph.n_messages)


def _no_shares(graph: AgentGraph) -> Measured | None:
    if len(graph.agents) < 3:
        reason = "there are fewer than three agents"
        return undefined(graph.n_messages, reason, status=MetricStatus.NOT_APPLICABLE)
    return None if graph.n_messages else undefined(0, "there are no messages")


@metric("load_balance", definition_id="1-gini/messages_of_agent")
def load_balance(graph: AgentGraph) -> Iterator[Measured]:
    """1 minus the Gini coefficient of messages per agent: 1 if all agents have the same load, near 0 if a few agents
    have most of it."""
    loads = sorted(graph.loads.values())
    if len(loads) < 2:
        yield undefined(len(loads), "there are fewer than two agents")
    elif not sum(loads):
        yield undefined(len(loads), "there are no messages")
    else:
        yield Measured(1 - _gini(loads), len(loads))


def _gini(ascending: list[int]) -> float:
    """The Gini coefficient of non-negative values in ascending order: sum((2i - n - 1) x_i) / (n sum(x))."""
    n = len(ascending)
    return fsum((2 * rank - n - 1) * load for rank, load in enumerate(ascending, 1)) / (n * fsum(ascending))


CENTRALISATION: Final = (degree_centralisation, betweenness_centralisation, message_share, hub_share, load_balance)


# Centrality: how central each agent is.

_ONE_AGENT: Final = "there is only one agent"


@metric("degree_centrality", definition_id="degree_centrality/messages/undirected")
def degree_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the other agents with which an agent exchanged a message."""
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ONE_AGENT)
        return
    for agent, partners in zip(graph.agents, graph.contact_arcs.out_degrees.tolist(), strict=True):
        yield Measured(partners * (1 / (agents - 1)), agents, agent)


@metric("betweenness_centrality", definition_id="betweenness_centrality/messages/normalized")
def betweenness_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The share of the shortest paths between others that pass through an agent (Brandes 2001): for every pair of
    others the share of their shortest paths, summed and divided by (n-1)(n-2)."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _TOO_FEW)
        return
    yield from scored(graph.betweenness)


@metric("max_betweenness", definition_id="betweenness_centrality/messages/normalized/max")
def max_betweenness(graph: AgentGraph) -> Iterator[Measured]:
    """The highest betweenness of an agent."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _TOO_FEW)
        return
    yield estimated(graph.betweenness, max(graph.betweenness.values.values()), agents)


@metric("closeness_centrality", definition_id="closeness_centrality/messages/incoming/wasserman_faust")
def closeness_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The nearness of an agent to the agents whose messages can reach it: the share of such agents among the others,
    divided by their mean distance (Freeman 1979, Wasserman and Faust 1994). 0 for an agent that no messages reach."""
    from concord_evaluator.graph import engines

    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ONE_AGENT)
        return
    yield from scored(engines.closeness(graph.message_arcs, graph.distances))


@metric("eigenvector_centrality", definition_id="eigenvector_centrality/messages/incoming")
def eigenvector_centrality(graph: AgentGraph) -> Iterator[Measured]:
    """The centrality of an agent by the centrality of the agents that send it messages: the eigenvector of the largest
    eigenvalue, of length 1 (Bonacich 1972). Defined only if every agent can reach every other: otherwise the vector is
    not unique, or 0 for many agents."""
    from concord_evaluator.graph import engines

    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ONE_AGENT)
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
    from concord_evaluator.graph import engines

    agents = len(graph.agents)
    if agents < 2:
        yield undefined(agents, _ONE_AGENT)
        return
    yield from scored(engines.pagerank(graph.message_arcs, damping))


CENTRALITY: Final = (
    degree_centrality,
    betweenness_centrality,
    max_betweenness,
    closeness_centrality,
    eigenvector_centrality,
    pagerank,
)


# Cohesion: how closely a team is connected.


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
    from concord_evaluator.graph import engines

    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, "there are fewer than three agents")
        return
    scores = engines.clustering(graph.contact_arcs)
    yield estimated(scores, fsum(scores.values.values()) / len(scores.values), agents)


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
    import numpy as np

    requests = graph.request_arcs
    total = int(requests.weights.sum())
    if not total:
        yield undefined(0, "there are no requests")
        return
    yield Measured(int(np.minimum(requests.weights, requests.returned).sum()) / total, total)


COHESION: Final = (density, density_requests, clustering, connected_components, reciprocity)


# Paths: how many hops a message takes from one agent to another.

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
        yield estimated(graph.distances, total / pairs, pairs)


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
        yield estimated(graph.distances, max(graph.distances.histogram), agents)


def _over_all_pairs(graph: AgentGraph, total: float) -> Iterator[Measured]:
    agents = len(graph.agents)
    if agents < 2:
        yield undefined(0, _ALONE)
    else:
        pairs = len(graph.distances.sources) * (agents - 1)
        yield estimated(graph.distances, total / pairs, pairs)


PATHS: Final = (average_path_length, reachable_pairs, global_efficiency, diameter)
