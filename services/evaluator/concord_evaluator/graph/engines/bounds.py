"""Which engine for which size. Always by the size of the graph, never by the clock: the same trace, the same bits."""

import random
from collections.abc import Sequence
from typing import Final

from concord_evaluator.graph.engines.scores import Graph

NETWORKX_UP_TO: Final = 50
"""Nodes up to which NetworkX takes some 40 ms for everything, all with all; above, rustworkx is 15 times as fast."""

EXACT_UP_TO: Final = 10**9
"""Nodes times edges up to which all shortest paths are walked: some ten seconds, for 1,000 agents all of whom talk."""

MATRIX_UP_TO: Final = 3000
"""Nodes up to which all distances are held at once (72 MB)."""

SAMPLED_WORK: Final = 2 * 10**7
"""Edges that are walked when sources are sampled: some ten seconds."""

MIN_SOURCES: Final = 8
"""However large the graph, so many sources are sampled."""

CLUSTERING_WORK: Final = 2 * 10**7
"""The sum of squared degrees up to which the neighbours of every node are looked at: some seconds."""

SEED: Final = 0
"""Of all sampling."""


def is_small(graph: Graph) -> bool:
    """Whether NetworkX is fast enough."""
    return len(graph) <= NETWORKX_UP_TO


def is_exact(graph: Graph) -> bool:
    """Whether all shortest paths can be walked."""
    return len(graph) * graph.number_of_edges() <= EXACT_UP_TO


def fits_a_matrix(graph: Graph) -> bool:
    """Whether the distances between all nodes can be computed, and held."""
    return is_exact(graph) and len(graph) <= MATRIX_UP_TO


def number_of_sources(graph: Graph) -> int:
    """How many sources to sample where not all can be walked from."""
    return min(len(graph), max(MIN_SOURCES, SAMPLED_WORK // (len(graph) + graph.number_of_edges() + 1)))


def sample(nodes: Sequence[str], size: int) -> list[str]:
    """Some of the nodes, always the same, in their order."""
    draw = random.Random(SEED)  # nosec B311  # noqa: S311 - a reproducible draw, not a secret
    chosen = set(draw.sample(range(len(nodes)), min(size, len(nodes))))
    return [node for index, node in enumerate(nodes) if index in chosen]
