"""Which engine computes a graph, by its size alone, so that equal traces give bitwise equal figures."""

import random
from typing import Final

from concord_evaluator.graph.engines.arcs import Arcs

NETWORKX_UP_TO: Final = 50
"""Nodes up to which NetworkX is used: about 40 ms for all metrics of a full mesh. rustworkx is 15 times as fast."""

EXACT_UP_TO: Final = 10**9
"""Nodes times edges up to which all shortest paths are computed: about ten seconds for a full mesh of 1,000 agents."""

BETWEENNESS_UP_TO: Final = 10**8
"""Nodes times edges up to which betweenness is exact: about three seconds. It counts paths, not only their lengths."""

MATRIX_UP_TO: Final = 3000
"""Nodes up to which the matrix of all distances is held in memory (72 MB)."""

SAMPLED_WORK: Final = 2 * 10**7
"""Edges that are traversed if sources are sampled: about ten seconds."""

MIN_SOURCES: Final = 8
"""The minimum number of sampled sources."""

CLUSTERING_WORK: Final = 2 * 10**7
"""The sum of squared degrees up to which the clustering of every node is computed: a few seconds."""

SEED: Final = 0
"""The seed of all sampling."""


def is_small(graph: Arcs) -> bool:
    """Whether NetworkX is fast enough."""
    return len(graph) <= NETWORKX_UP_TO


def is_exact(graph: Arcs) -> bool:
    """Whether the lengths of all shortest paths can be computed."""
    return len(graph) * graph.n_edges <= EXACT_UP_TO


def counts_all_paths(graph: Arcs) -> bool:
    """Whether all shortest paths can be counted."""
    return len(graph) * graph.n_edges <= BETWEENNESS_UP_TO


def fits_a_matrix(graph: Arcs) -> bool:
    """Whether the matrix of all distances can be computed and held."""
    return is_exact(graph) and len(graph) <= MATRIX_UP_TO


def number_of_sources(graph: Arcs) -> int:
    """The number of sources to sample in a graph that is not computed exactly."""
    return min(len(graph), max(MIN_SOURCES, SAMPLED_WORK // (len(graph) + graph.n_edges + 1)))


def sample(nodes: int, size: int) -> list[int]:
    """A sample of numbered nodes, ascending. The same number of nodes gives the same sample."""
    draw = random.Random(SEED)  # nosec B311  # noqa: S311 - a reproducible draw, not a secret
    return sorted(draw.sample(range(nodes), min(size, nodes)))
