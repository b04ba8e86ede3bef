"""Findings on the structure of a team: bottlenecks, hubs, isolated agents, and a low density."""

from collections.abc import Iterator
from typing import Final

from concord.assessment.results import Finding
from concord_evaluator.findings.finder import MeasuredTrial, steps_of

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
