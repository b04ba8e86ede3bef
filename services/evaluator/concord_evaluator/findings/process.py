"""What the calls themselves show: agents of whom nothing was heard, chains that go in circles, errors that spread."""

from collections.abc import Iterator
from heapq import nsmallest

from concord.assessment import Thresholds
from concord.assessment.results import Finding
from concord_evaluator.findings.evidence import MAX_OF_A_KIND, MAX_STEP_IDS, some
from concord_evaluator.graph import AgentGraph
from concord_evaluator.graph.chains import chain_above, find_cascades


def find(graph: AgentGraph, thresholds: Thresholds) -> Iterator[Finding]:
    """Silent agents, loops and error cascades."""
    yield from _silent(graph)
    yield from _loops(graph, thresholds.loop)
    yield from _error_cascades(graph, thresholds.error_cascade)


def _silent(graph: AgentGraph) -> Iterator[Finding]:
    if len(graph.agents) < 2:
        return
    for agent in (agent for agent in graph.unheard if agent not in graph.unseen):
        asked = [call for (_, callee), link in graph.answered.items() if callee == agent for call in link.calls]
        yield Finding(
            id="silent",
            agents=[agent],
            metric_id=None,
            measured="messages sent",
            value=0.0,
            threshold=0.0,
            step_ids=some(step_id for call in asked for step_id in call.step_ids),
            advice=f"{agent} is declared, but nothing was heard of it, neither a call nor an answer nor a report: see "
            "that it is running, that others know its address, and that it reports what it does.",
        )


def _loops(graph: AgentGraph, threshold: int) -> Iterator[Finding]:
    """For each agent the call that comes back to it most often, and of these the worst."""
    deepest: dict[str, tuple[int, str, int]] = {}
    for found in graph.returns:
        if found.times > threshold:
            agent = graph.calls[found.index].callee
            ranked = (-found.times, agent, found.index)
            deepest[agent] = min(ranked, deepest.get(agent, ranked))
    for times, agent, index in nsmallest(MAX_OF_A_KIND, deepest.values()):
        chain = chain_above(index, graph.calls, MAX_STEP_IDS)
        yield Finding(
            id="loop",
            agents=[agent],
            metric_id=None,
            measured="times on the chain, waiting",
            value=-times,
            threshold=threshold,
            step_ids=[graph.calls[each].step_id for each in chain],
            advice=f"{agent} is called again and again in one chain while it waits for its answer: give the chain "
            "an end, such as a limit to its depth or an agent that decides.",
        )


def _error_cascades(graph: AgentGraph, threshold: int) -> Iterator[Finding]:
    """For the same agents the longest one, and of these the worst."""
    longest: dict[tuple[str, ...], tuple[int, list[int]]] = {}
    for chain in find_cascades(graph.calls):
        if len(chain) > threshold:
            agents = tuple(sorted({graph.calls[index].callee for index in chain}))
            longest[agents] = min((-len(chain), chain), longest.get(agents, (0, [])))
    for (length, chain), agents in nsmallest(MAX_OF_A_KIND, ((ranked, agents) for agents, ranked in longest.items())):
        calls = [graph.calls[index] for index in chain]
        yield Finding(
            id="error_cascade",
            agents=list(agents),
            metric_id=None,
            measured="failed calls in a row",
            value=-length,
            threshold=threshold,
            step_ids=[call.step_id for call in calls[:MAX_STEP_IDS]],
            advice=f"What failed at {calls[-1].callee} failed {-length} calls in a row, up to the one to "
            f"{calls[0].callee}: let those in between deal with it, by another way or a partial answer.",
        )
