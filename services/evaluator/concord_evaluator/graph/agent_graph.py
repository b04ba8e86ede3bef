"""The agent graph in three views: messages, requests alone, and pairs of agents with an answered call."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np

from concord.assessment.results import Record
from concord.trace.attributes import EdgeKind
from concord_evaluator.graph import engines
from concord_evaluator.graph.chains import MadeIn, Return, find_returns, made_in
from concord_evaluator.graph.critical_path import CriticalPath, critical_path
from concord_evaluator.graph.engines import Distances, Scores
from concord_evaluator.trace import CallList, Contradictions, Interaction, Link, Links, Projection, calls_on
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH
from concord_evaluator.trace.columns import EDGE_KINDS, NEVER, NONE, Codes


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
    calls: CallList
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
        passing = [EDGE_KINDS.index(kind) for kind in (EdgeKind.HANDOFF, EdgeKind.SEQUENCE)]
        exchanged = ~np.isin(self.links.edge_kind, passing)
        if exchanged.all():
            return self
        kept = self.links.among(exchanged)
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
    def performers(self) -> Codes:
        """The callees of the calls with a known start, in causal order, as codes of names."""
        calls = self.calls
        outside = np.array([calls.steps.names.code(each) for each in sorted(NOT_IN_GRAPH)])
        timed = calls.steps.columns.started_us[calls.row] != NEVER
        performers: Codes = calls.callee[timed & ~np.isin(calls.callee, outside)]
        return performers

    @cached_property
    def handovers(self) -> Counter[str]:
        """By agent, how often a call to it was directly followed by a call to another agent."""
        before, after = self.performers[:-1], self.performers[1:]
        agents, times = np.unique(before[before != after], return_counts=True)
        names = self.calls.steps.names.texts
        return Counter({names[agent]: n for agent, n in zip(agents.tolist(), times.tolist(), strict=True)})

    @cached_property
    def critical_path(self) -> CriticalPath:
        """The longest chain of work."""
        return critical_path(self.calls)

    @cached_property
    def made_in(self) -> MadeIn:
        """The calls that were made in each call."""
        return made_in(self.calls.parent)


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
    return Counter(dict(zip(links, links.n_calls.tolist(), strict=True)))


def _replies(links: Links) -> Counter[Link]:
    answered = (links.n_calls - links.failed).tolist()
    return Counter({(callee, caller): n for (caller, callee), n in zip(links, answered, strict=True) if n})


def _digraph(agents: Iterable[str], weights: Counter[Link]) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(agents)
    graph.add_weighted_edges_from((tail, head, weight) for (tail, head), weight in sorted(weights.items()))
    return graph


def tally_calls(graph: AgentGraph) -> CallTally:
    """Counts the calls of a trial."""
    links, answered = graph.links, graph.all_links
    asked = links.requests != NONE
    questions = np.stack([links.link_of_call[asked], links.requests[asked]], axis=1)
    comparable = int(asked.sum())
    return CallTally(
        calls=len(answered.call_failed),
        failed_calls=int(answered.call_failed.sum()),
        attempts=len(answered.numbers),
        failed_attempts=int(answered.attempt_failed.sum()),
        own_attempts=len(links.numbers),
        retries=int(links.retries.sum()),
        comparable=comparable,
        repeats=comparable - len(np.unique(questions, axis=0)),
    )
