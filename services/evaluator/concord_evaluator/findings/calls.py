"""Findings on the calls of a team: contradicted reports, silent agents, loops, and error cascades."""

from collections import defaultdict
from collections.abc import Iterator
from heapq import nsmallest

from concord.assessment.results import MAX_STEP_IDS, Finding
from concord_evaluator.findings.finder import MAX_PER_KIND, MeasuredTrial, first_step_ids
from concord_evaluator.graph.chains import chain_above, find_cascades
from concord_evaluator.trace.attempts import Claim


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
