"""The agent graph in three views: messages, requests alone, and pairs of agents with an answered call."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from concord.assessment.table import Record
from concord.trace.attributes import EdgeKind
from concord_evaluator.graph import engines
from concord_evaluator.graph.engines import Arcs, Distances, NodeScores
from concord_evaluator.trace import CallList, Contradictions, Interaction, Links, Projection, calls_on
from concord_evaluator.trace.attribution import in_graph, participant_of
from concord_evaluator.trace.columns import EDGE_KINDS, NEVER, NONE, Flags, changes, pairs
from concord_evaluator.trace.trees import ROOT, Numbers, below_any

if TYPE_CHECKING:
    import networkx as nx


# Work and span of a trace: the total work of all agents, and the longest chain of work that was sequential.
#
# Two calls are sequential if one ended before the other began by the same clock, which is the clock of the
# participant that made both. Calls by different clocks without a causal bond have no order. A call waits for the
# calls made in it.

LONGEST_US: Final = 2**61
"""The duration that a longer one counts as (73,000 years), so that every end is a number of 64 bits."""


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """`work_us`: the total time in which agents did not wait for others; `span_us`: the part of it on the critical
    path; both in microseconds. `calls`: the indices of the calls on the path. `timed`: the number of calls with a known
    duration. `complete`: whether all calls have a known start and duration.
    """

    work_us: int
    span_us: int
    calls: frozenset[int]
    timed: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _Groups:
    """The calls that were made in one call by one clock, with known starts.

    `calls`: of all groups, sorted by the call that they were made in, clock, end and start; `before`: of each, how many
    calls of its group ended before it began. `first`: where each group begins in `calls`, and the end of the last;
    `parent`: by group, the call that they were made in; `covered`: the time in which any of them was in progress (µs).
    """

    calls: Numbers
    before: Numbers
    first: Numbers
    parent: Numbers
    covered: Numbers


def critical_path(calls: CallList) -> CriticalPath:
    """The longest chain of work. `calls`: in causal order."""
    start, known = calls.steps.columns.started_us[calls.row], calls.steps.columns.latency_ms[calls.row]
    measured = ~np.isnan(known)
    duration = np.minimum(np.rint(1000 * np.where(measured, known, 0)), LONGEST_US).astype(np.int64)
    timed = measured & (start != NEVER)
    groups = _groups(calls, timed, start, start + duration)
    covered = np.zeros(len(calls) + 1, np.int64)
    np.maximum.at(covered, groups.parent, groups.covered)
    own = np.maximum(duration - covered[:-1], 0)
    span, chosen = _longest_chains(calls.parent, groups, np.flatnonzero(~timed), own)
    on_path = chosen & ~below_any(calls.parent, ~chosen)
    return CriticalPath(
        work_us=sum(own.tolist()),
        span_us=span,
        calls=frozenset(np.flatnonzero(on_path).tolist()),
        timed=int(measured.sum()),
        complete=bool(timed.all()),
    )


def _groups(calls: CallList, timed: Flags, start: Numbers, end: Numbers) -> _Groups:
    names = calls.steps.names.texts
    callers, caller = np.unique(calls.caller, return_inverse=True)
    clocks = [participant_of(names[code]) for code in callers.tolist()]
    ranks = {clock: rank for rank, clock in enumerate(sorted(set(clocks)))}
    clock = np.array([ranks[each] for each in clocks], np.int64)[caller]
    made = np.flatnonzero(timed)
    made = made[np.lexsort((start[made], end[made], clock[made], calls.parent[made]))]
    new = changes(calls.parent[made], clock[made])
    first, group = np.flatnonzero(new), np.cumsum(new) - 1
    return _Groups(
        made,
        _ended_before(group, first, start[made], end[made]),
        np.append(first, len(made)),
        calls.parent[made[first]],
        _covered(group, first, start[made], end[made]),
    )


def _ended_before(group: Numbers, first: Numbers, start: Numbers, end: Numbers) -> Numbers:
    """By call, how many calls before it in its group ended when it began, or earlier. Sorted by group and end."""
    size = len(group)
    begins = np.repeat((False, True), size)
    order = np.lexsort((begins, np.append(end, start), np.append(group, group)))
    ended = np.empty(2 * size, np.int64)
    ended[order] = np.cumsum(~begins[order])
    return np.minimum(ended[size:], np.arange(size)) - first[group]


def _covered(group: Numbers, first: Numbers, start: Numbers, end: Numbers) -> Numbers:
    """By group, the time in which any of its calls was in progress (µs). Sorted by group and end."""
    place = np.lexsort((end, start, group))
    latest = np.maximum.accumulate(place)  # ends are sorted, so that the last place has the latest end
    until = start[place]
    until[1:] = np.where(group[1:] == group[:-1], np.maximum(end[latest[:-1]], until[1:]), until[1:])
    added = np.maximum(end[place] - until, 0)
    return np.add.reduceat(added, first) if len(first) else added


def _longest_chains(parents: Numbers, groups: _Groups, untimed: Numbers, own: Numbers) -> tuple[int, Flags]:
    """The span of the whole trace (µs), and by call whether it is in the chain of sequential calls with the largest sum
    of spans among the calls that were made in the same call.

    `untimed`: the calls without a known start, which are in no order with others. `own`: by call, its own work.
    """
    small = own.sum(dtype=np.float64) < 2**62  # then every sum is a number of 64 bits, since no chain is the larger
    spans = array("q", np.append(own, 0).tobytes()) if small else [*own.tolist(), 0]
    chosen = np.zeros(len(parents), np.bool_)
    of_untimed = np.argsort(parents[untimed], kind="stable")
    untimed = untimed[of_untimed]
    outer, n_calls = np.unique(parents, return_counts=True)
    bounds = [
        np.searchsorted(each, outer, side) for each in (groups.parent, parents[untimed]) for side in ("left", "right")
    ]
    calls, before, first, alone = (each.tolist() for each in (groups.calls, groups.before, groups.first, untimed))
    waited: list[int] = []
    inner_first = [each[::-1].tolist() for each in (outer, n_calls, *bounds)]
    for parent, n, group, last_group, loose, last_loose in zip(*inner_first, strict=True):
        longest, chain = -1, list[int]()
        for place in range(loose, last_loose):
            if (span := spans[alone[place]]) > longest:
                longest, chain = span, [alone[place]]
        for number in range(group, last_group):
            begin, end = first[number], first[number + 1]
            best = _best(calls[begin:end], before[begin:end], spans)
            if best[-1] > longest:
                longest, chain = best[-1], _chain(calls[begin:end], before[begin:end], best)
        spans[parent] += longest
        waited += chain if chain or n > 1 else [calls[first[group]]]
    chosen[waited] = True
    return spans[ROOT], chosen


def _best(calls: Sequence[int], before: Sequence[int], spans: Sequence[int]) -> Sequence[int]:
    """By number of calls of a group, the largest sum of spans of a chain among the first so many of them (weighted
    interval scheduling)."""
    longest = 0
    best = [longest]
    for call, n_before in zip(calls, before, strict=True):
        through = spans[call] + best[n_before]
        if through > longest:
            longest = through
        best.append(longest)
    return best


def _chain(calls: Sequence[int], before: Sequence[int], best: Sequence[int]) -> list[int]:
    """The calls of the best chain, the last one first."""
    chain: list[int] = []
    number = len(calls)
    while number:
        if best[number] > best[number - 1]:
            chain.append(calls[number - 1])
            number = before[number - 1]
        else:
            number -= 1
    return chain


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
    above = parents.tolist()
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


# The graph.


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
        codes = np.array([names.code(agent) for agent in self.agents], np.int64)
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
    def betweenness(self) -> NodeScores:
        """The betweenness of each agent in `messages`."""
        return engines.betweenness(self.message_arcs)

    @cached_property
    def exchange(self) -> "AgentGraph":
        """This graph without handoffs and sequences, or itself if it has none.

        An agent that passes control on, or works next because the program says so, is not a hub of an exchange.
        """
        passing = [EDGE_KINDS.index(kind) for kind in (EdgeKind.HANDOFF, EdgeKind.SEQUENCE)]
        exchanged = ~np.isin(self.links.edge_kind, passing)
        return self if exchanged.all() else replace(self, links=self.links.among(exchanged))

    @cached_property
    def distances(self) -> Distances:
        """The shortest path lengths between agents in `messages`."""
        return engines.distances(self.message_arcs)

    @cached_property
    def tally(self) -> CallTally:
        """The counts of calls and attempts."""
        links, answered = self.links, self.all_links
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

    @cached_property
    def returns(self) -> Returns:
        """The calls back to an agent further up their chain."""
        return find_returns(self.calls)

    @cached_property
    def performers(self) -> Numbers:
        """The callees of the calls with a known start, in causal order, as codes of names."""
        calls = self.calls
        timed = calls.steps.columns.started_us[calls.row] != NEVER
        performers: Numbers = calls.callee[timed & in_graph(calls.callee, calls.steps.names)]
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
