"""Findings: what a team should know about its own coordination, with the figure and the steps that show it."""

from collections.abc import Iterable
from typing import Final

from concord.assessment import Thresholds
from concord.assessment.results import Finding, MetricRecord
from concord_evaluator.findings import contradicted, flags, links, process
from concord_evaluator.findings.evidence import MAX_STEP_IDS
from concord_evaluator.graph import AgentGraph

METRICS_NEEDED: Final = flags.METRICS_NEEDED


def find(graph: AgentGraph, metrics: Iterable[MetricRecord], thresholds: Thresholds) -> list[Finding]:
    """The findings on one trial, from metrics among which are `METRICS_NEEDED`. Undefined values find nothing."""
    return [
        *contradicted.find(graph),
        *flags.find(graph, metrics, thresholds),
        *process.find(graph, thresholds),
        *links.find(graph, thresholds),
    ]


__all__ = ["MAX_STEP_IDS", "METRICS_NEEDED", "find"]
