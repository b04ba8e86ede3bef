"""The agent graph, in three views: requests with their replies, requests alone, and who was answered."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx

from concord_evaluator.trace import Interaction, Projection


@dataclass(frozen=True, slots=True)
class AgentGraph:
    """The agents (sorted) and what passed between them.

    `messages`: an edge for whoever sent another a request or a reply; the PRD's metrics and flags are defined on it.
    `requests`: an edge from each caller to its callees. Both without self-loops; their `weight` counts messages.
    `exchanges`: an undirected edge between two agents of whom one called the other and was answered.
    `answered`: every call that an agent was to answer, the assessor's included, which is no part of the graph.
    """

    agents: tuple[str, ...]
    interactions: tuple[Interaction, ...]
    answered: tuple[Interaction, ...]
    messages: "nx.DiGraph[str]"
    requests: "nx.DiGraph[str]"
    exchanges: "nx.Graph[str]"

    @property
    def n_messages(self) -> int:
        """Requests and replies between agents, all together."""
        return int(self.messages.size(weight="weight"))

    def messages_of(self, agent: str) -> int:
        """The messages that an agent sent or received."""
        received = self.messages.in_degree(agent, weight="weight")
        return int(received + self.messages.out_degree(agent, weight="weight"))


def build_graph(projection: Projection) -> AgentGraph:
    """Builds the views, nodes and edges in sorted order, so that the same trace gives the same bits.

    A logical call is one request however often it was tried, and one reply unless it failed.
    """
    requests = Counter((call.caller, call.callee) for call in projection.interactions)
    replies = Counter((call.callee, call.caller) for call in projection.interactions if not call.failed)
    exchanges: nx.Graph[str] = nx.Graph()
    exchanges.add_nodes_from(projection.agents)
    exchanges.add_edges_from(sorted(replies))
    return AgentGraph(
        agents=projection.agents,
        interactions=projection.interactions,
        answered=projection.answered_calls,
        messages=_digraph(projection.agents, requests + replies),
        requests=_digraph(projection.agents, requests),
        exchanges=exchanges,
    )


def _digraph(agents: Iterable[str], weights: Counter[tuple[str, str]]) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(agents)
    graph.add_weighted_edges_from((tail, head, weight) for (tail, head), weight in sorted(weights.items()))
    return graph
