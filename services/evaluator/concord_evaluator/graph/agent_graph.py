"""The agent graph in three views: messages, requests alone, and pairs of agents with an answered call."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from concord.assessment.results import Record
from concord.trace.attributes import EdgeKind
from concord_evaluator.graph import engines
from concord_evaluator.graph.critical_path import CriticalPath, critical_path
from concord_evaluator.graph.engines import Arcs, Distances, Scores
from concord_evaluator.trace import CallList, Contradictions, Interaction, Links, Projection, calls_on
from concord_evaluator.trace.attribution import NOT_IN_GRAPH
from concord_evaluator.trace.columns import EDGE_KINDS, NEVER, NONE, ROOT, Codes, Numbers, are, pairs, viewed

if TYPE_CHECKING:
    import networkx as nx


# Chains of calls, each made in the previous one: calls back to a waiting agent, and cascades of errors.


@dataclass(frozen=True, slots=True)
class Returns:
    """The calls to an agent that already waits further up the chain, in causal order: the index of each, and how many
    times its callee waits."""

    index: Numbers
    times: Numbers

    def __len__(self) -> int:
        return len(self.index)


def find_returns(calls: CallList) -> Returns:
    """Every call between agents to a waiting agent.

    The callee of a call waits for the calls below it, and so does the caller of a first call. In a walk down the calls,
    an agent waits as many times as the walk has entered calls for which it waits, less those that it has left.
    """
    entered, left = _walk(calls.parent)
    inner, first = left - entered > 1, calls.parent == ROOT
    called, calling = inner & (calls.caller != calls.callee), inner & first
    waiting = np.append(calls.callee[called], calls.caller[calling]).astype(np.int64) * (len(calls) + 1)
    begins = np.sort(waiting + np.append(entered[called], entered[calling]))
    ends = np.sort(waiting + np.append(left[called], left[calling]))
    index = np.flatnonzero(calls.between_agents & ~first)
    asked = calls.callee[index].astype(np.int64) * (len(calls) + 1) + entered[index]
    times = np.searchsorted(begins, asked) - np.searchsorted(ends, asked, "right")
    met = times > 0
    return Returns(index[met], times[met])


def _walk(parents: Numbers) -> tuple[Numbers, Numbers]:
    """By call, the moments at which a walk in depth first order enters it, and leaves it with all calls below it.

    The walk enters one call at each moment. `parents`: each before the calls made in it.
    """
    above = viewed(parents)
    sizes, left = array("q", [1]) * len(parents), array("q", [0]) * len(parents)
    sizes.append(0)
    left.append(0)  # the last place is that of `ROOT`
    for call in range(len(parents) - 1, -1, -1):
        sizes[above[call]] += sizes[call]
    for call, parent in enumerate(above):
        left[call] = left[parent] + 1
        left[parent] += sizes[call]
    leaving = np.frombuffer(left, np.int64)[:-1]
    return leaving - np.frombuffer(sizes, np.int64)[:-1], leaving


def chain_above(index: int, parents: Numbers, at_most: int) -> list[int]:
    """The last `at_most` calls of the chain that ends in this call, from the top down."""
    chain = [index]
    while len(chain) < at_most and (parent := int(parents[chain[-1]])) != ROOT:
        chain.append(parent)
    return chain[::-1]


def find_cascades(calls: CallList) -> Iterator[list[int]]:
    """For each failed call whose parent did not fail, the longest chain of failed calls from it downwards."""
    failed = np.flatnonzero(calls.failed)
    parents = dict(zip(failed.tolist(), calls.parent[failed].tolist(), strict=True))
    longest = dict.fromkeys(parents, 1)
    """By failed call, the length of the longest chain of failed calls from it downwards."""
    below: dict[int, int] = {}
    """By failed call, the next in that chain."""
    for index in reversed(parents):
        parent = parents[index]
        if parent in parents and longest[index] >= longest[parent]:
            longest[parent], below[parent] = longest[index] + 1, index
    for index, parent in parents.items():
        if parent not in parents:
            chain = [index]
            while chain[-1] in below:
                chain.append(below[chain[-1]])
            yield chain


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
    """The agents (sorted) and the calls between them. A logical call is one request, regardless of its attempts, and
    one reply unless it failed.

    `links`: the calls of each agent to each other agent. `all_links`: the same, and the assessor's calls to agents; the
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

    @cached_property
    def message_arcs(self) -> Arcs:
        """An arc from each sender of a request or a reply to its receiver. Its weight counts these."""
        callers, callees, answered = *self._ends, self.links.n_calls - self.links.failed
        replied = answered > 0
        return Arcs.of(
            self.agents,
            np.append(callers, callees[replied]),
            np.append(callees, callers[replied]),
            np.append(self.links.n_calls, answered[replied]),
        )

    @cached_property
    def request_arcs(self) -> Arcs:
        """An arc from each caller to its callees. Its weight counts logical calls."""
        return Arcs.of(self.agents, *self._ends, self.links.n_calls)

    @cached_property
    def answered_arcs(self) -> Arcs:
        """Undirected: an edge between two agents if one of them called the other and was answered."""
        answered = self.links.n_calls - self.links.failed
        callers, callees = (each[answered > 0] for each in self._ends)
        return Arcs.of(self.agents, callers, callees, answered[answered > 0], directed=False)

    @cached_property
    def contact_arcs(self) -> Arcs:
        """Undirected: an edge between two agents if one of them sent the other a message."""
        return self.message_arcs.undirected()

    @cached_property
    def _ends(self) -> tuple[Numbers, Numbers]:
        """By link, the numbers of caller and callee among the agents."""
        names = self.links.steps.names
        codes = names.codes(self.agents)
        number = np.zeros(len(names.texts), np.int64)
        number[codes] = np.arange(len(codes))
        return number[self.links.caller], number[self.links.callee]

    @property
    def messages(self) -> "nx.DiGraph[str]":
        """The same as `message_arcs`; an edge has a `weight`."""
        return cast("nx.DiGraph[str]", self.message_arcs.networkx)

    @property
    def requests(self) -> "nx.DiGraph[str]":
        """The same as `request_arcs`; an edge has a `weight`."""
        return cast("nx.DiGraph[str]", self.request_arcs.networkx)

    @property
    def answered_pairs(self) -> "nx.Graph[str]":
        """The same as `answered_arcs`."""
        return self.answered_arcs.networkx

    @cached_property
    def interactions(self) -> tuple[Interaction, ...]:
        """The calls between agents, sorted by caller and callee."""
        return tuple(calls_on(self.links))

    @cached_property
    def n_messages(self) -> int:
        """The number of requests and replies between agents."""
        return int(self.message_arcs.weights.sum())

    @cached_property
    def loads(self) -> Mapping[str, int]:
        """By agent, the number of messages that it sent or received."""
        return dict(zip(self.agents, self.message_arcs.loads.tolist(), strict=True))

    @cached_property
    def betweenness(self) -> Scores:
        """The betweenness of each agent in `messages`."""
        return engines.betweenness(self.message_arcs)

    @cached_property
    def exchange(self) -> "AgentGraph":
        """This graph without handoffs and sequences, or itself if it has none.

        An agent that passes control on, or works next because the program says so, is not a hub of an exchange.
        """
        passing = [EDGE_KINDS.index(kind) for kind in (EdgeKind.HANDOFF, EdgeKind.SEQUENCE)]
        exchanged = ~are(self.links.edge_kind, passing)
        return self if exchanged.all() else replace(self, links=self.links.among(exchanged))

    @cached_property
    def distances(self) -> Distances:
        """The shortest path lengths between agents in `messages`."""
        return engines.distances(self.message_arcs)

    @cached_property
    def tally(self) -> CallTally:
        """The counts of calls and attempts."""
        return tally_calls(self)

    @cached_property
    def returns(self) -> Returns:
        """The calls back to an agent further up their chain."""
        return find_returns(self.calls)

    @cached_property
    def performers(self) -> Codes:
        """The callees of the calls with a known start, in causal order, as codes of names."""
        calls = self.calls
        outside = [calls.steps.names.code(each) for each in sorted(NOT_IN_GRAPH)]
        timed = calls.steps.columns.started_us[calls.row] != NEVER
        performers: Codes = calls.callee[timed & ~are(calls.callee, outside)]
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


def build_graph(
    projection: Projection, *, completed: bool | None = None, unseen: frozenset[str] = frozenset()
) -> AgentGraph:
    """The graph of a projection."""
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
    )


def tally_calls(graph: AgentGraph) -> CallTally:
    """Counts the calls of a trial."""
    links, answered = graph.links, graph.all_links
    asked = links.requests != NONE
    questions, _ = pairs(links.link_of_call[asked], links.requests[asked])
    comparable = int(asked.sum())
    return CallTally(
        calls=len(answered.call_failed),
        failed_calls=int(answered.call_failed.sum()),
        attempts=len(answered.numbers),
        failed_attempts=int(answered.attempt_failed.sum()),
        own_attempts=len(links.numbers),
        retries=int(links.retries.sum()),
        comparable=comparable,
        repeats=comparable - len(questions),
    )
