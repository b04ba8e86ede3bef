"""The interface of finders: functions of a measured trial that yield findings, each with the steps that show it."""

from bisect import insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from concord.assessment import Thresholds
from concord.assessment.results import MAX_STEP_IDS, Finding
from concord_evaluator.graph import AgentGraph
from concord_evaluator.trace.cases import are

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
    touched = are(links.caller, chosen) | are(links.callee, chosen)
    return links.first_step_ids(touched[links.link_of_attempt])


def first_step_ids(step_ids: Iterable[str]) -> list[str]:
    """The first `MAX_STEP_IDS` distinct ids in sorted order. Holds no more than these, however many there are."""
    first: list[str] = []
    for step_id in step_ids:
        if (len(first) < MAX_STEP_IDS or step_id < first[-1]) and step_id not in first:
            insort(first, step_id)
            del first[MAX_STEP_IDS:]
    return first
