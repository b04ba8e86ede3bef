"""The result of an engine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from concord_evaluator.graph.engines.arcs import Arcs

Engine = Literal["networkx", "numpy", "rustworkx"]


@dataclass(frozen=True, slots=True)
class Scores:
    """A score for each node, sorted. `sources`: the number of nodes it was estimated from; None if exact."""

    values: Mapping[str, float]
    engine: Engine
    sources: int | None = None


def named(graph: Arcs, values: Iterable[float]) -> dict[str, float]:
    """Scores in the order of the nodes as scores by node."""
    return dict(zip(graph.nodes, map(float, values), strict=True))
