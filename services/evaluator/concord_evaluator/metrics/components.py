"""Components: into how many parts that never spoke to each other the team falls."""

from collections.abc import Iterator

import networkx as nx

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.registry import Measured, metric, undefined


@metric("connected_components", definition="weakly_connected_components/messages/count")
def connected_components(graph: AgentGraph) -> Iterator[Measured]:
    """How many weakly connected components there are; 1 for a team that hangs together."""
    agents = len(graph.agents)
    if not agents:
        yield undefined(0, "there are no agents")
        return
    yield Measured(nx.number_weakly_connected_components(graph.messages), agents)
