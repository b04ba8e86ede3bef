"""The flags of the PRD: bottleneck, isolated, over-centralised, and a density that is not healthy."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from concord.assessment import Thresholds
from concord.assessment.results import Finding, MetricRecord
from concord_evaluator.findings.evidence import steps_of
from concord_evaluator.graph import AgentGraph

METRICS_NEEDED: Final = frozenset({"betweenness_centrality", "degree_centrality", "density", "message_share"})

_Values = Mapping[tuple[str, str | None], float]


def find(graph: AgentGraph, metrics: Iterable[MetricRecord], thresholds: Thresholds) -> Iterator[Finding]:
    """The flags of one trial, from metrics among which are `METRICS_NEEDED`. Undefined values find nothing."""
    values = {(record.id, record.agent): record.value for record in metrics if record.value is not None}
    yield from _bottlenecks(graph, values, thresholds.bottleneck)
    yield from _over_centralised(graph, values, thresholds.over_centralised)
    yield from _isolated(graph, values)
    yield from _low_density(graph, values, thresholds.healthy_density)


def _bottlenecks(graph: AgentGraph, values: _Values, threshold: float) -> Iterator[Finding]:
    for agent in graph.agents:
        betweenness = values.get(("betweenness_centrality", agent), 0.0)
        if betweenness > threshold:
            yield Finding(
                id="bottleneck",
                agents=[agent],
                metric_id="betweenness_centrality",
                value=betweenness,
                threshold=threshold,
                step_ids=steps_of(graph, {agent}),
                advice=f"{agent} stands between most of the others: let them call each other directly where they need "
                "no go-between. If a hub is the design, see that it is neither overloaded nor the only way.",
            )


def _over_centralised(graph: AgentGraph, values: _Values, threshold: float) -> Iterator[Finding]:
    for agent in graph.agents:
        share = values.get(("message_share", agent), 0.0)
        if share > threshold:
            yield Finding(
                id="over_centralised",
                agents=[agent],
                metric_id="message_share",
                value=share,
                threshold=threshold,
                step_ids=steps_of(graph, {agent}),
                advice=f"{agent} takes part in most messages: hand some of its conversations to others. If a hub is "
                "the design, this is its price rather than a fault.",
            )


def _isolated(graph: AgentGraph, values: _Values) -> Iterator[Finding]:
    for agent in graph.agents:
        if agent not in graph.unseen and values.get(("degree_centrality", agent)) == 0:
            yield Finding(
                id="isolated",
                agents=[agent],
                metric_id="degree_centrality",
                value=0.0,
                threshold=0.0,
                step_ids=[],
                advice=f"{agent} is part of the team, yet exchanged no message with any of it: give it a share of the "
                "work, or leave it out of the team.",
            )


def _low_density(graph: AgentGraph, values: _Values, threshold: float) -> Iterator[Finding]:
    density = values.get(("density", None))
    if density is not None and density <= threshold and not graph.unseen:
        yield Finding(
            id="low_density",
            agents=[],
            metric_id="density",
            value=density,
            threshold=threshold,
            step_ids=steps_of(graph, graph.agents),
            advice="Few of the agents that could talk to each other do: check that everyone can reach those whose work "
            "it builds on. A large team needs less than all with all.",
        )
