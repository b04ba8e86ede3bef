"""The steps that show a finding: some of them, since the trace has them all."""

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
    calls = (call for call in graph.interactions if call.caller in chosen or call.callee in chosen)
    return some(step_id for call in calls for step_id in call.step_ids)


def some(step_ids: Iterable[str]) -> list[str]:
    """The first steps by their ids, each once."""
    return sorted(set(step_ids))[:MAX_STEP_IDS]
