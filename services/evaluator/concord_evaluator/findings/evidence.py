"""The steps that show a finding: some of them, since the trace has them all."""

from bisect import insort
from collections.abc import Collection, Iterable
from typing import Final

from concord_evaluator.graph import AgentGraph

MAX_STEP_IDS: Final = 20
"""A finding names this many of the steps that show it."""

MAX_OF_A_KIND: Final = 10
"""Of the findings that calls and links give rise to, the worst so many of each kind are told."""


def steps_of(graph: AgentGraph, agents: Collection[str]) -> list[str]:
    """The first of the calls, by step id, that any of the agents took part in."""
    chosen = set(agents)
    links = (calls for link, calls in graph.links.items() if not chosen.isdisjoint(link))
    return some(step_id for link in links for call in link.calls for step_id in call.step_ids)


def some(step_ids: Iterable[str]) -> list[str]:
    """The first steps by their ids, each once. Of however many: no more are held than are told."""
    first: list[str] = []
    for step_id in step_ids:
        if (len(first) < MAX_STEP_IDS or step_id < first[-1]) and step_id not in first:
            insort(first, step_id)
            del first[MAX_STEP_IDS:]
    return first
