"""Findings: observations about a team's coordination, each with its figure and the steps that show it."""

from collections.abc import Iterable
from enum import StrEnum
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


__all__ = ["FINDERS", "METRICS_NEEDED", "Shape", "find", "shown_findings", "structural"]
