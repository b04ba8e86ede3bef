"""Findings: observations about a team's coordination, each with its figure and the steps that show it."""

from collections.abc import Iterable
from typing import Final

from concord.assessment import Thresholds
from concord.assessment.results import Finding, MetricRecord
from concord_evaluator.findings.calls import contradicted_reports, error_cascades, loops, silent_agents
from concord_evaluator.findings.finder import Finder, MeasuredTrial
from concord_evaluator.findings.links import redundant_questions, slow_links
from concord_evaluator.findings.structure import (
    METRICS_NEEDED,
    bottlenecks,
    isolated_agents,
    low_density,
    over_centralised_agents,
)
from concord_evaluator.graph import AgentGraph

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

OF_SHAPE: Final[frozenset[Finder]] = frozenset({bottlenecks, over_centralised_agents, low_density})
"""The finders that judge which agents call each other, and how often."""


def find(
    graph: AgentGraph, metrics: Iterable[MetricRecord], thresholds: Thresholds, *, shape: bool = True
) -> list[Finding]:
    """The findings on one trial. `metrics` include `METRICS_NEEDED`; an undefined metric finds nothing.

    `shape=False` leaves out the finders `OF_SHAPE`.
    """
    values = {(record.id, record.agent): record.value for record in metrics if record.value is not None}
    trial = MeasuredTrial(graph, values, thresholds)
    return [finding for finder in FINDERS if shape or finder not in OF_SHAPE for finding in finder(trial)]


__all__ = ["FINDERS", "METRICS_NEEDED", "find"]
