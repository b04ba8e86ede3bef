"""A graph as arrays of numbered nodes, which engine computes it, and the result of an engine."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

import networkx as nx
import numpy as np
import rustworkx as rx

# A graph as arrays of numbered nodes, and the same for NetworkX and rustworkx.

Indices: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
Amounts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


@dataclass(frozen=True, eq=False)
class Arcs:
    """A graph without self-loops and parallel edges. Arc `i` leads from node `tails[i]` to node `heads[i]`.

    Arcs are sorted by tail and head. An undirected edge is two arcs of the same weight.
    """

    nodes: tuple[str, ...]
    tails: Indices
    heads: Indices
    weights: Indices
    directed: bool = True

    @classmethod
    def of(
        cls, nodes: Sequence[str], tails: Indices, heads: Indices, weights: Indices, *, directed: bool = True
    ) -> "Arcs":
        """Arcs in any order; the weights of parallel ones are added. Undirected edges in one direction or both."""
        if not directed:
            tails, heads, weights = (
                np.concatenate(each) for each in ((tails, heads), (heads, tails), (weights, weights))
            )
        keys, numbers = np.unique(tails * len(nodes) + heads, return_inverse=True)
        added = np.bincount(numbers, weights, len(keys)).astype(np.int64)
        size = max(1, len(nodes))
        return cls(tuple(nodes), keys // size, keys % size, added, directed)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def n_edges(self) -> int:
        """The number of edges. An undirected edge counts once."""
        return len(self.heads) if self.directed else len(self.heads) // 2

    @cached_property
    def first(self) -> Indices:
        """By node, where the arcs from it begin; and the end of the last."""
        return np.searchsorted(self.tails, np.arange(len(self) + 1))

    @cached_property
    def out_degrees(self) -> Indices:
        """By node, the number of arcs from it: of an undirected graph, its degree."""
        return np.diff(self.first)

    @property
    def density(self) -> float | None:
        """The share of the possible edges that exist. None for fewer than two nodes."""
        possible = len(self) * (len(self) - 1)
        return len(self.heads) / possible if possible else None

    @cached_property
    def n_components(self) -> int:
        """The number of parts of a directed graph without an edge between them."""
        return rx.number_weakly_connected_components(self.rustworkx)

    @cached_property
    def is_strongly_connected(self) -> bool:
        """Whether every node reaches every other. Raises rustworkx.NullGraph without nodes."""
        return rx.is_strongly_connected(self.rustworkx)

    @cached_property
    def loads(self) -> Indices:
        """By node, the weight of all arcs from it and to it."""
        ends = (np.bincount(each, self.weights, len(self)) for each in (self.tails, self.heads))
        loads: Indices = sum(ends, np.zeros(len(self))).astype(np.int64)
        return loads

    @cached_property
    def returned(self) -> Indices:
        """By arc, the weight of the opposite one; 0 without one."""
        keys, opposite = self.keys, self.heads * len(self) + self.tails
        places = np.searchsorted(keys, opposite).clip(max=max(0, len(keys) - 1))
        returned: Indices = np.where(keys[places] == opposite, self.weights[places], 0)
        return returned

    @cached_property
    def keys(self) -> Indices:
        """The arcs as one number each, ascending: tail times the number of nodes, plus head."""
        return self.tails * len(self) + self.heads

    def undirected(self) -> "Arcs":
        """The same without directions."""
        return Arcs.of(self.nodes, self.tails, self.heads, self.weights, directed=False)

    def arcs_from(self, nodes: Indices) -> Indices:
        """The arcs from these nodes: from the first node of them all, then from the second, and so on."""
        degrees = self.out_degrees[nodes]
        before = np.cumsum(degrees) - degrees
        return np.repeat(self.first[nodes] - before, degrees) + np.arange(int(degrees.sum()))

    @cached_property
    def networkx(self) -> "nx.Graph[str]":
        """A `DiGraph`, or a `Graph` of an undirected graph, with the attribute `weight`."""
        graph: nx.Graph[str] = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from(self.nodes)
        one_way = slice(None) if self.directed else self.tails < self.heads
        ends = zip(*(each[one_way].tolist() for each in (self.tails, self.heads, self.weights)), strict=True)
        graph.add_weighted_edges_from((self.nodes[tail], self.nodes[head], weight) for tail, head, weight in ends)
        return graph

    @cached_property
    def rustworkx(self) -> "rx.PyDiGraph[int, float]":
        """With the nodes by their numbers. An undirected edge is two arcs."""
        graph: rx.PyDiGraph[int, float] = rx.PyDiGraph()
        graph.add_nodes_from(range(len(self)))
        weights = self.weights.astype(np.float64).tolist()
        graph.add_edges_from(list(zip(self.tails.tolist(), self.heads.tolist(), weights, strict=True)))
        return graph


# Which engine computes a graph, by its size alone, so that equal traces give bitwise equal figures.

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


# The result of an engine.

Engine = Literal["networkx", "numpy", "rustworkx"]


@dataclass(frozen=True, slots=True)
class NodeScores:
    """A score for each node, sorted. `sources`: the number of nodes it was estimated from; None if exact."""

    values: Mapping[str, float]
    engine: Engine
    sources: int | None = None


def named(graph: Arcs, values: Iterable[float]) -> dict[str, float]:
    """Scores in the order of the nodes as scores by node."""
    return dict(zip(graph.nodes, map(float, values), strict=True))
