"""The agent graph in three views: messages, requests alone, and pairs of agents with an answered call."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import networkx as nx

from concord.assessment.results import Record
from concord.trace.attributes import EdgeKind
from concord_evaluator.graph import engines
from concord_evaluator.graph.chains import Return, find_returns, made_in
from concord_evaluator.graph.critical_path import CriticalPath, critical_path
from concord_evaluator.graph.engines import Distances, Scores
from concord_evaluator.trace import Call, Contradictions, Interaction, Link, LinkCalls, Links, Projection, calls_on
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH


class CallTally(Record):
    """Counts over one trial. A call may take several attempts, and failed if none of them succeeded.

    `calls`, `attempts` and the failed ones include the assessor's calls; the other counts do not. `comparable`: calls
    whose request is known; `repeats`: those whose caller had already sent that agent the same request.
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
    """The agents (sorted) and the calls between them.

    `messages`: an edge from each sender of a request or a reply to its receiver. `requests`: an edge from each caller
    to its callees. Neither has self-loops; their `weight` counts messages. `answered_pairs`: an undirected edge between
    two agents if one of them called the other and was answered.
    `links`: the calls behind each edge of `requests`. `all_links`: the same, and the assessor's calls to agents; the
    assessor is not a node.
    `calls`: all call attempts in causal order. `silent_agents`: declared agents that sent nothing. `texts`: a sample of
    the requests, by digest. `completed`: whether the task was completed; None if nobody knows. `unseen`: the
    participants whose calls could not have been seen. `contradictions`: claims of calls that observations refute.

    Figures that several metrics share are computed once, on first use.
    """

    agents: tuple[str, ...]
    links: Links
    all_links: Links
    calls: tuple[Call, ...]
    silent_agents: tuple[str, ...]
    tokens: int | None
    texts: Mapping[str, str]
    completed: bool | None
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
        """The number of requests and replies between agents."""
        return int(self.messages.size(weight="weight"))

    @cached_property
    def loads(self) -> Mapping[str, int]:
        """By agent, the number of messages that it sent or received."""
        return {agent: int(load) for agent, load in self.messages.degree(weight="weight")}

    @cached_property
    def contacts(self) -> "nx.Graph[str]":
        """An undirected edge between two agents if one of them sent the other a message."""
        contacts: nx.Graph[str] = nx.Graph()
        contacts.add_nodes_from(self.agents)
        contacts.add_edges_from(self.messages.edges)
        return contacts

    @cached_property
    def betweenness(self) -> Scores:
        """The betweenness of each agent in `messages`."""
        return engines.betweenness(self.messages)

    @cached_property
    def exchange(self) -> "AgentGraph":
        """This graph without handoffs and sequences, or itself if it has none.

        An agent that passes control on, or works next because the program says so, is not a hub of an exchange.
        """
        kept = {
            link: LinkCalls(calls)
            for link, each in self.links.items()
            if (calls := [call for call in each.calls if call.kind not in {EdgeKind.HANDOFF, EdgeKind.SEQUENCE}])
        }
        if sum(len(each.calls) for each in kept.values()) == len(self.interactions):
            return self
        messages = _digraph(self.agents, _requests(kept) + _replies(kept))
        return replace(self, links=kept, messages=messages)

    @cached_property
    def distances(self) -> Distances:
        """The shortest path lengths between agents in `messages`."""
        return engines.distances(self.messages)

    @cached_property
    def tally(self) -> CallTally:
        """The counts of calls and attempts."""
        return tally_calls(self)

    @cached_property
    def returns(self) -> tuple[Return, ...]:
        """The calls back to an agent further up their chain, in no particular order."""
        return tuple(find_returns(self.calls, self.made_in))

    @cached_property
    def performers(self) -> Sequence[str]:
        """The callees of the calls with a known start, in causal order."""
        performers = [call.callee for call in self.calls if call.record.started_us is not None]
        return [agent for agent in performers if agent not in NOT_IN_GRAPH]

    @cached_property
    def handovers(self) -> Counter[str]:
        """By agent, how often a call to it was directly followed by a call to another agent."""
        return Counter([agent for agent, following in pairwise(self.performers) if agent != following])

    @cached_property
    def critical_path(self) -> CriticalPath:
        """The longest chain of work."""
        return critical_path(self.calls, self.made_in)

    @cached_property
    def made_in(self) -> tuple[tuple[int, ...], ...]:
        """By call, the indices of the calls that were made in it."""
        return made_in(self.calls)


def build_graph(
    projection: Projection, *, completed: bool | None = None, unseen: frozenset[str] = frozenset()
) -> AgentGraph:
    """Builds the graph. Nodes and edges are sorted, so that equal traces give bitwise equal figures.

    A logical call is one request, regardless of its attempts, and one reply unless it failed.
    """
    requests, replies = _requests(projection.links), _replies(projection.links)
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


def _requests(links: Links) -> Counter[Link]:
    return Counter({link: len(each.calls) for link, each in links.items()})


def _replies(links: Links) -> Counter[Link]:
    answered = {(callee, caller): len(each.calls) - each.failed for (caller, callee), each in links.items()}
    return +Counter(answered)


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
