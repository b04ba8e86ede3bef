"""The agent graph, in three views: requests with their replies, requests alone, and who was answered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import networkx as nx

from concord.assessment.results import Record
from concord_evaluator.graph import engines
from concord_evaluator.graph.chains import Return, find_returns, made_in
from concord_evaluator.graph.critical_path import CriticalPath, critical_path
from concord_evaluator.graph.engines import Distances, Scores
from concord_evaluator.trace import Call, Contradictions, Interaction, Link, Links, Projection, calls_on
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH


class CallTally(Record):
    """Counts over one trial. A call may take several attempts, and failed if none of them succeeded.

    `calls` and `attempts` are all that agents were to answer, the assessor's included; the rest is of the agents' own
    calls. `comparable`: those that say what they asked; `repeats`: those of them whose caller had already asked that
    agent the same.
    """

    calls: int
    failed_calls: int
    attempts: int
    failed_attempts: int
    own_attempts: int
    retries: int
    comparable: int
    repeats: int


@dataclass(frozen=True)
class AgentGraph:
    """The agents (sorted) and what passed between them.

    `messages`: an edge for whoever sent another a request or a reply; the PRD's metrics and flags are defined on it.
    `requests`: an edge from each caller to its callees. Both without self-loops; their `weight` counts messages.
    `answered_pairs`: an undirected edge between two agents of whom one called the other and was answered.
    `links`: the calls behind each edge of `requests`. `answered`: the calls that agents were to answer, the assessor's
    included, which is no part of the graph.
    `calls`: every attempt at any call in causal order. `silent_agents`: declared agents that sent nothing.
    `texts`: a sample of what was asked, by digest. `completed`: whether the task was. `unseen`: the participants of
    whose calls nothing could have been seen. `contradictions`: claims of calls that what was seen refutes.

    What several metrics need is computed once, when it is first asked for.
    """

    agents: tuple[str, ...]
    links: Links
    all_links: Links
    calls: tuple[Call, ...]
    silent_agents: tuple[str, ...]
    tokens: int | None
    texts: Mapping[str, str]
    completed: bool
    unseen: frozenset[str]
    contradictions: Contradictions
    messages: "nx.DiGraph[str]"
    requests: "nx.DiGraph[str]"
    answered_pairs: "nx.Graph[str]"

    @cached_property
    def interactions(self) -> tuple[Interaction, ...]:
        """The calls between agents, sorted by caller and callee."""
        return tuple(calls_on(self.links))

    @cached_property
    def n_messages(self) -> int:
        """Requests and replies between agents, all together."""
        return int(self.messages.size(weight="weight"))

    @cached_property
    def loads(self) -> Mapping[str, int]:
        """The messages that each agent sent or received."""
        return {agent: int(load) for agent, load in self.messages.degree(weight="weight")}

    @cached_property
    def contacts(self) -> "nx.Graph[str]":
        """An undirected edge between two agents of whom one sent the other anything."""
        contacts: nx.Graph[str] = nx.Graph()
        contacts.add_nodes_from(self.agents)
        contacts.add_edges_from(self.messages.edges)
        return contacts

    @cached_property
    def betweenness(self) -> Scores:
        """The betweenness of each agent in `messages`."""
        return engines.betweenness(self.messages)

    @cached_property
    def distances(self) -> Distances:
        """The distances between agents in `messages`."""
        return engines.distances(self.messages)

    @cached_property
    def tally(self) -> CallTally:
        """How the calls went, as counts."""
        return tally_calls(self)

    @cached_property
    def returns(self) -> tuple[Return, ...]:
        """The calls that come back to an agent further up their chain, in no particular order."""
        return tuple(find_returns(self.calls, self.made_in))

    @cached_property
    def performers(self) -> Sequence[str]:
        """Who answered each of the calls that say when they began, in causal order."""
        performers = [call.callee for call in self.calls if call.record.started_us is not None]
        return [agent for agent in performers if agent not in NOT_IN_GRAPH]

    @cached_property
    def handovers(self) -> Counter[str]:
        """By agent, how often a call that it answered was followed by one that another did."""
        return Counter([agent for agent, following in pairwise(self.performers) if agent != following])

    @cached_property
    def critical_path(self) -> CriticalPath:
        """The longest chain of work."""
        return critical_path(self.calls, self.made_in)

    @cached_property
    def made_in(self) -> tuple[tuple[int, ...], ...]:
        """By call, the calls that were made in it, as indices."""
        return made_in(self.calls)


def build_graph(projection: Projection, *, completed: bool = True, unseen: frozenset[str] = frozenset()) -> AgentGraph:
    """Builds the views, nodes and edges in sorted order, so that the same trace gives the same bits.

    A logical call is one request however often it was tried, and one reply unless it failed.
    """
    requests: Counter[Link] = Counter()
    replies: Counter[Link] = Counter()
    for (caller, callee), link in projection.links.items():
        requests[caller, callee] = len(link.calls)
        if answered := len(link.calls) - link.failed:
            replies[callee, caller] = answered
    answered_pairs: nx.Graph[str] = nx.Graph()
    answered_pairs.add_nodes_from(projection.agents)
    answered_pairs.add_edges_from(sorted(replies))
    return AgentGraph(
        agents=projection.agents,
        links=projection.links,
        all_links=projection.all_links,
        calls=projection.calls,
        silent_agents=projection.silent_agents,
        tokens=projection.tokens,
        texts=projection.texts,
        completed=completed,
        unseen=unseen,
        contradictions=projection.contradictions,
        messages=_digraph(projection.agents, requests + replies),
        requests=_digraph(projection.agents, requests),
        answered_pairs=answered_pairs,
    )


def _digraph(agents: Iterable[str], weights: Counter[Link]) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(agents)
    graph.add_weighted_edges_from((tail, head, weight) for (tail, head), weight in sorted(weights.items()))
    return graph


def tally_calls(graph: AgentGraph) -> CallTally:
    """Counts the calls of a trial."""
    comparable = repeats = 0
    for link in graph.links.values():
        requests = link.requests
        comparable += len(requests)
        repeats += len(requests) - len(set(requests))
    answered = graph.all_links.values()
    return CallTally(
        calls=sum(len(link.calls) for link in answered),
        failed_calls=sum(link.failed for link in answered),
        attempts=sum(link.attempts for link in answered),
        failed_attempts=sum(link.failed_attempts for link in answered),
        own_attempts=sum(link.attempts for link in graph.links.values()),
        retries=sum(link.retries for link in graph.links.values()),
        comparable=comparable,
        repeats=repeats,
    )
