"""Findings: observations about a team's coordination, each with its figure and the steps that show it."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from heapq import nsmallest
from itertools import pairwise
from statistics import fmean
from typing import Final

import numpy as np

from concord.assessment import Thresholds
from concord.assessment.results import MAX_STEP_IDS, Finding, MetricRecord
from concord_evaluator.graph import AgentGraph
from concord_evaluator.graph.agent_graph import chain_above, find_cascades
from concord_evaluator.trace import LinkCalls
from concord_evaluator.trace.attribution import Claim
from concord_evaluator.trace.columns import NONE, pairs

# The interface of finders: functions of a measured trial that yield findings, each with the steps that show it.

MAX_PER_KIND: Final = 10
"""Findings of one kind about calls and links: the worst ones."""


@dataclass(frozen=True, slots=True)
class MeasuredTrial:
    """The input of a finder. `values`: the metrics that have a value, by metric id and agent (None: of the team)."""

    graph: AgentGraph
    values: Mapping[tuple[str, str | None], float]
    thresholds: Thresholds


Finder = Callable[[MeasuredTrial], Iterator[Finding]]


def steps_of(graph: AgentGraph, agents: Collection[str]) -> list[str]:
    """The ids of the calls that any of the agents made or received, as `first_step_ids` selects them."""
    links, names = graph.links, graph.calls.steps.names
    chosen = [names.code(agent) for agent in agents]
    touched = np.isin(links.caller, chosen) | np.isin(links.callee, chosen)
    return links.first_step_ids(touched[links.link_of_attempt])


def first_step_ids(step_ids: Iterable[str]) -> list[str]:
    """The first `MAX_STEP_IDS` distinct ids in sorted order. Holds no more than these, however many there are."""
    first: list[str] = []
    for step_id in step_ids:
        if (len(first) < MAX_STEP_IDS or step_id < first[-1]) and step_id not in first:
            insort(first, step_id)
            del first[MAX_STEP_IDS:]
    return first


# Findings on the calls of a team: contradicted reports, silent agents, loops, and error cascades.


def contradicted_reports(trial: MeasuredTrial) -> Iterator[Finding]:
    """Each participant that reported calls which the gateway's own records refute; the most frequent first."""
    graph = trial.graph
    by_reporter: defaultdict[str, list[tuple[int, Claim]]] = defaultdict(list)
    for claim, times in graph.contradictions.counts.items():
        by_reporter[claim.reporter].append((times, claim))
    ranked = sorted((-sum(times for times, _ in claims), reporter) for reporter, claims in by_reporter.items())
    for total, reporter in ranked[:MAX_PER_KIND]:
        claims = sorted(by_reporter[reporter], key=lambda each: (-each[0], each[1]))
        shown = ", ".join(f"{claim.caller} to {claim.callee} x{times}" for times, claim in claims[:MAX_PER_KIND])
        more = f" and {len(claims) - MAX_PER_KIND} more" if len(claims) > MAX_PER_KIND else ""
        yield Finding(
            id="contradicted_reports",
            agents=[reporter],
            metric_id=None,
            measured="calls told of that did not take place",
            value=float(-total),
            threshold=0.0,
            step_ids=first_step_ids(step_id for _, claim in claims for step_id in graph.contradictions.step_ids[claim]),
            advice=f"{reporter} reported calls through the gateway that the gateway did not observe: "
            f"{shown}{more}. These calls do not count.",
        )


def silent_agents(trial: MeasuredTrial) -> Iterator[Finding]:
    """Each declared agent that sent nothing: no call, no answer, no report."""
    graph = trial.graph
    if len(graph.agents) < 2:
        return
    links, names = graph.all_links, graph.calls.steps.names
    for agent in (agent for agent in graph.silent_agents if agent not in graph.unseen):
        asked = links.callee == names.code(agent)
        yield Finding(
            id="silent",
            agents=[agent],
            metric_id=None,
            measured="messages sent",
            value=0.0,
            threshold=0.0,
            step_ids=links.first_step_ids(asked[links.link_of_attempt]),
            advice=f"{agent} made no call, gave no answer and sent no report.",
        )


def loops(trial: MeasuredTrial) -> Iterator[Finding]:
    """For each agent the call that comes back to it most often; the worst of these."""
    graph, threshold = trial.graph, trial.thresholds.loop
    names, callee = graph.calls.steps.names.texts, graph.calls.callee
    deepest: dict[str, tuple[int, str, int]] = {}
    often = graph.returns.times > threshold
    found = zip(graph.returns.index[often].tolist(), graph.returns.times[often].tolist(), strict=True)
    for index, times in found:
        agent = names[callee[index]]
        ranked = (-times, agent, index)
        deepest[agent] = min(ranked, deepest.get(agent, ranked))
    for times, agent, index in nsmallest(MAX_PER_KIND, deepest.values()):
        chain = chain_above(index, graph.calls.parent, MAX_STEP_IDS)
        yield Finding(
            id="loop",
            agents=[agent],
            metric_id=None,
            measured="times on the chain, waiting",
            value=-times,
            threshold=threshold,
            step_ids=[graph.calls[each].step_id for each in chain],
            advice=f"{agent} is called repeatedly in one chain while it waits for its own answer.",
        )


def error_cascades(trial: MeasuredTrial) -> Iterator[Finding]:
    """For each set of agents the longest chain of failed calls, each made in the one before; the worst of these."""
    graph, threshold = trial.graph, trial.thresholds.error_cascade
    names, callee = graph.calls.steps.names.texts, graph.calls.callee
    longest: dict[tuple[str, ...], tuple[int, list[int]]] = {}
    for chain in find_cascades(graph.calls):
        if len(chain) > threshold:
            agents = tuple(sorted({names[callee[index]] for index in chain}))
            longest[agents] = min((-len(chain), chain), longest.get(agents, (0, [])))
    for (length, chain), agents in nsmallest(MAX_PER_KIND, ((ranked, agents) for agents, ranked in longest.items())):
        calls = [graph.calls[index] for index in chain]
        yield Finding(
            id="error_cascade",
            agents=list(agents),
            metric_id=None,
            measured="failed calls in a row",
            value=-length,
            threshold=threshold,
            step_ids=[call.step_id for call in calls[:MAX_STEP_IDS]],
            advice=f"A failure at {calls[-1].callee} made {-length} nested calls fail, up to the call to "
            f"{calls[0].callee}.",
        )


# Findings on the links between two agents: slow links and redundant questions.


def slow_links(trial: MeasuredTrial) -> Iterator[Finding]:
    """Links whose mean latency, as a multiple of the median over all other links, is above the threshold."""
    links, threshold = trial.graph.links, trial.thresholds.slow_link
    values, bounds = links.latencies_ms
    known, starts = values.tolist(), bounds.tolist()
    means = {
        link: fmean(known[first:end]) for link, (first, end) in zip(links, pairwise(starts), strict=True) if first < end
    }
    ascending = sorted(means.values())
    slow = []
    for (caller, callee), mean in means.items():
        usual = _median_without(ascending, mean)
        if usual and mean / usual > threshold:
            slow.append((-mean / usual, caller, callee))
    for times, caller, callee in nsmallest(MAX_PER_KIND, slow):
        yield Finding(
            id="slow_link",
            agents=[caller, callee],
            metric_id=None,
            measured="times the usual latency",
            value=-times,
            threshold=threshold,
            step_ids=first_step_ids(_timed(links[caller, callee])),
            advice=f"{caller} waits {-times:.0f} times as long for {callee} as usual in this team.",
        )


def _timed(link: LinkCalls) -> Iterator[str]:
    """The step ids of the attempts whose latency is known."""
    return (each.step_id for call in link.calls for each in call if each.record.latency_ms is not None)


def _median_without(ascending: list[float], value: float) -> float | None:
    """The median of all values but this one. None for fewer than two other values."""
    others = len(ascending) - 1
    if others < 2:
        return None
    place = bisect_left(ascending, value)
    low, high = (index + (index >= place) for index in ((others - 1) // 2, others // 2))
    return (ascending[low] + ascending[high]) / 2


def redundant_questions(trial: MeasuredTrial) -> Iterator[Finding]:
    """The question asked most often on each link, where that is above the threshold; the worst links."""
    links, threshold = trial.graph.links, trial.thresholds.redundant_question
    ends = list(links)
    asked = links.requests != NONE
    questions, asked_times = pairs(links.link_of_call[asked], links.requests[asked])
    often = asked_times > threshold
    again: dict[int, tuple[int, int]] = {}
    for (link, question), n in zip(questions[often].tolist(), asked_times[often].tolist(), strict=True):
        again[link] = min((-n, question), again.get(link, (0, 0)))
    ranked = [(n, ends[link], link, question) for link, (n, question) in again.items()]
    for times, (caller, callee), link, question in nsmallest(MAX_PER_KIND, ranked):
        same = (links.link_of_call == link) & (links.requests == question)
        yield Finding(
            id="redundant_question",
            agents=[caller, callee],
            metric_id=None,
            measured="times asked the same",
            value=-times,
            threshold=threshold,
            step_ids=links.first_step_ids(np.repeat(same, np.diff(links.calls))),
            advice=f"{caller} asked {callee} the same question {-times} times.",
        )


# Findings on the structure of a team: bottlenecks, hubs, isolated agents, and a low density.

METRICS_NEEDED: Final = frozenset({"betweenness_centrality", "degree_centrality", "density", "message_share"})


def bottlenecks(trial: MeasuredTrial) -> Iterator[Finding]:
    """Each agent whose betweenness is above the threshold, without handoffs and sequences as well as with them."""
    threshold = trial.thresholds.bottleneck
    suspects = {agent: trial.values.get(("betweenness_centrality", agent), 0.0) for agent in trial.graph.agents}
    if not any(value > threshold for value in suspects.values()):
        return
    intermediaries = trial.graph.exchange.betweenness.values
    for agent, whole in suspects.items():
        betweenness = min(whole, intermediaries[agent])
        if betweenness > threshold:
            yield Finding(
                id="bottleneck",
                agents=[agent],
                metric_id="betweenness_centrality" if betweenness == whole else None,
                measured=None if betweenness == whole else "betweenness without handoffs and sequences",
                value=betweenness,
                threshold=threshold,
                step_ids=steps_of(trial.graph, {agent}),
                advice=f"{agent} is on most paths between the other agents.",
            )


def over_centralised_agents(trial: MeasuredTrial) -> Iterator[Finding]:
    """Each agent whose share of the messages is above the threshold, without handoffs and sequences as well."""
    threshold, exchange = trial.thresholds.over_centralised, trial.graph.exchange
    for agent in trial.graph.agents:
        share = trial.values.get(("message_share", agent), 0.0)
        if exchange is not trial.graph:
            share = min(share, exchange.loads[agent] / max(exchange.n_messages, 1))
        if share > threshold:
            yield Finding(
                id="over_centralised",
                agents=[agent],
                metric_id="message_share" if exchange is trial.graph else None,
                measured=None if exchange is trial.graph else "share of the messages without handoffs and sequences",
                value=share,
                threshold=threshold,
                step_ids=steps_of(trial.graph, {agent}),
                advice=f"{agent} takes part in most messages.",
            )


def isolated_agents(trial: MeasuredTrial) -> Iterator[Finding]:
    """Each agent that exchanged no message with another, unless its calls could not have been seen."""
    for agent in trial.graph.agents:
        if agent not in trial.graph.unseen and trial.values.get(("degree_centrality", agent)) == 0:
            yield Finding(
                id="isolated",
                agents=[agent],
                metric_id="degree_centrality",
                value=0.0,
                threshold=0.0,
                step_ids=[],
                advice=f"{agent} exchanged no message with another agent.",
            )


def low_density(trial: MeasuredTrial) -> Iterator[Finding]:
    """A density of messages up to the threshold, unless some calls could not have been seen."""
    threshold = trial.thresholds.healthy_density
    density = trial.values.get(("density", None))
    if density is not None and density <= threshold and not trial.graph.unseen:
        yield Finding(
            id="low_density",
            agents=[],
            metric_id="density",
            value=density,
            threshold=threshold,
            step_ids=steps_of(trial.graph, trial.graph.agents),
            advice="Few of the agents that could call each other do.",
        )


# All finders.

FINDERS: Final[tuple[Finder, ...]] = (
    contradicted_reports,
    bottlenecks,
    over_centralised_agents,
    isolated_agents,
    low_density,
    silent_agents,
    loops,
    error_cascades,
    slow_links,
    redundant_questions,
)
"""All finders. A trial's findings are in this order."""

STRUCTURAL: Final = frozenset({"bottleneck", "over_centralised", "low_density", "isolated"})
"""The ids of findings that describe which agents exchange messages, and how often."""


class Shape(StrEnum):
    """Whose choice it is who exchanges messages with whom."""

    CHOSEN = "chosen"
    """The team's, or its program's."""
    PRESCRIBED = "prescribed"
    """The task's: a family's task says who may call whom."""
    DELIVERED = "delivered"
    """As `PRESCRIBED`; and the assessor itself delivers the messages, in rounds."""
    CUT_SHORT = "cut_short"
    """The team's, whose first agent failed, so that the others may never have been asked."""


def find(graph: AgentGraph, metrics: Iterable[MetricRecord], thresholds: Thresholds) -> list[Finding]:
    """All findings on one trial. `metrics` include `METRICS_NEEDED`; an undefined metric finds nothing."""
    values = {(record.id, record.agent): record.value for record in metrics if record.value is not None}
    trial = MeasuredTrial(graph, values, thresholds)
    return [finding for finder in FINDERS for finding in finder(trial)]


def structural(findings: Iterable[Finding], shape: Shape) -> list[Finding]:
    """The findings by which a structure is rated: agents on most paths say nothing where the task prescribes that."""
    prescribed = shape in {Shape.PRESCRIBED, Shape.DELIVERED}
    return [each for each in findings if not prescribed or each.id not in STRUCTURAL - {"isolated"}]


def shown_findings(findings: Iterable[Finding], shape: Shape) -> list[Finding]:
    """The findings that say something about the team: no structure that it did not choose, and no silence of agents
    that nobody could ask. In rounds, the calls are the assessor's own."""
    if shape is Shape.CHOSEN:
        return list(findings)
    if shape is Shape.DELIVERED:
        return [each for each in findings if each.id == "contradicted_reports"]
    hidden = STRUCTURAL | ({"silent"} if shape is Shape.CUT_SHORT else frozenset())
    return [each for each in findings if each.id not in hidden]
