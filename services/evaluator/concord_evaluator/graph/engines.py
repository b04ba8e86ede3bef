"""Costly graph algorithms. NetworkX computes small graphs, rustworkx larger ones, NetworkX a sample of the largest."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np
import rustworkx as rx

if TYPE_CHECKING:
    import networkx as nx

# NetworkX is imported by what computes with it: it takes as long as all else here, and most that import this module
# compute no graph.

# A graph as arrays of numbered nodes, and the same for NetworkX and rustworkx.

Indices: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"


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
    def out_degrees(self) -> Indices:
        """By node, the number of arcs from it: of an undirected graph, its degree."""
        return np.bincount(self.tails, minlength=len(self))

    @property
    def density(self) -> float | None:
        """The share of the possible edges that exist. None for fewer than two nodes."""
        possible = len(self) * (len(self) - 1)
        return len(self.heads) / possible if possible else None

    @property
    def n_components(self) -> int:
        """The number of parts of a directed graph without an edge between them."""
        return rx.number_weakly_connected_components(self.rustworkx)

    @cached_property
    def is_strongly_connected(self) -> bool:
        """Whether every node reaches every other. Raises rustworkx.NullGraph without nodes."""
        return rx.is_strongly_connected(self.rustworkx)

    @property
    def loads(self) -> Indices:
        """By node, the weight of all arcs from it and to it."""
        ends = (np.bincount(each, self.weights, len(self)) for each in (self.tails, self.heads))
        loads: Indices = sum(ends, np.zeros(len(self))).astype(np.int64)
        return loads

    @property
    def returned(self) -> Indices:
        """By arc, the weight of the opposite one; 0 without one."""
        keys, opposite = self.tails * len(self) + self.heads, self.heads * len(self) + self.tails
        _, places, of_opposite = np.intersect1d(keys, opposite, assume_unique=True, return_indices=True)
        returned = np.zeros_like(self.weights)
        returned[of_opposite] = self.weights[places]
        return returned

    def undirected(self) -> "Arcs":
        """The same without directions."""
        return Arcs.of(self.nodes, self.tails, self.heads, self.weights, directed=False)

    @cached_property
    def networkx(self) -> "nx.Graph[str]":
        """A `DiGraph`, or a `Graph` of an undirected graph, with the attribute `weight`."""
        import networkx as nx

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
"""Work up to which a measure is computed exactly. The lengths of all shortest paths take nodes times edges: about ten
seconds for a full mesh of 1,000 agents."""

COUNTED_PATHS: Final = 10
"""To count the shortest paths takes so many times the work of their lengths."""

COMPARED_PAIRS: Final = 50
"""To look for the edge between two neighbours of a node takes so many times the work of following an edge."""

MATRIX_UP_TO: Final = 3000
"""Nodes up to which the matrix of all distances is held in memory (72 MB)."""

SAMPLED_WORK: Final = 5 * 10**6
"""Nodes and edges that NetworkX visits from sampled sources: up to three seconds."""

MIN_SOURCES: Final = 8
"""The minimum number of sampled sources."""

SEED: Final = 0
"""The seed of all sampling."""

Engine = Literal["networkx", "python", "rustworkx"]


def _is_small(graph: Arcs) -> bool:
    return len(graph) <= NETWORKX_UP_TO


def _sources_needed(graph: Arcs) -> int:
    """The number of nodes to sample, from which paths are searched."""
    return min(len(graph), max(MIN_SOURCES, SAMPLED_WORK // (len(graph) + graph.n_edges + 1)))


def _sample(nodes: int, size: int) -> list[int]:
    """A sample of numbered nodes, ascending. The same number of nodes gives the same sample."""
    return sorted(random.Random(SEED).sample(range(nodes), size))  # nosec B311  # noqa: S311 - reproducible, no secret


# Distances between nodes (edges), summarised so that they need not be kept.


@dataclass(frozen=True, slots=True)
class Distances:
    """By source: `reached`, the number of nodes that it reaches, and `harmonic`, the sum of 1 / distance to them.

    `sources`: the numbers of the nodes that distances are from, ascending. `sample_size`: how many they are, None if
    they are all. `histogram`: the number of pairs (source, node) by distance. By node: `reaching`, the number of
    sources that reach it, and `total`, the sum of their distances.
    """

    sources: tuple[int, ...]
    reached: tuple[int, ...]
    harmonic: tuple[float, ...]
    histogram: dict[int, int]
    reaching: tuple[int, ...]
    total: tuple[int, ...]
    engine: Engine
    sample_size: int | None

    @property
    def pairs(self) -> int:
        """The number of pairs (source, node) where the source reaches the node."""
        return sum(self.histogram.values())


def distances(graph: Arcs) -> Distances:
    """The distances from all nodes, or from a sample of nodes, along the direction of the edges."""
    exact = len(graph) <= MATRIX_UP_TO and len(graph) * graph.n_edges <= EXACT_UP_TO
    size = None if exact else _sources_needed(graph)
    sources = range(len(graph)) if size is None else _sample(len(graph), size)
    engine: Engine = "networkx" if size is not None or _is_small(graph) else "rustworkx"
    if engine == "networkx":
        far = _walked(graph, sources)
    else:
        far = rx.digraph_distance_matrix(graph.rustworkx, parallel_threshold=len(graph) + 1).astype(np.int32)
    by_distance = [np.bincount(row)[1:] for row in far]
    return Distances(
        sources=tuple(sources),
        reached=tuple(np.count_nonzero(far, axis=1).tolist()),
        harmonic=tuple(fsum((counts / np.arange(1, len(counts) + 1)).tolist()) for counts in by_distance),
        histogram={length: n for length, n in enumerate(np.bincount(far.ravel()).tolist()) if length and n},
        reaching=tuple(np.count_nonzero(far, axis=0).tolist()),
        total=tuple(far.sum(axis=0, dtype=np.int64).tolist()),
        engine=engine,
        sample_size=size,
    )


def _walked(graph: Arcs, sources: Sequence[int]) -> "np.ndarray[tuple[int, int], np.dtype[np.int32]]":
    """The distance from each source (row) to each node (column); 0 without a path."""
    import networkx as nx

    place = {node: number for number, node in enumerate(graph.nodes)}
    found = np.zeros((len(sources), len(graph)), np.int32)
    for row, source in enumerate(sources):
        for target, length in nx.single_source_shortest_path_length(graph.networkx, graph.nodes[source]).items():
            found[row, place[target]] = length
    return found


# A score for each node: betweenness, closeness, clustering, eigenvector centrality and PageRank.

EIGENVECTOR_TOLERANCE: Final = 1e-8
PAGERANK_TOLERANCE: Final = 1e-10
MAX_ITERATIONS: Final = 1000


@dataclass(frozen=True, slots=True)
class NodeScores:
    """A score for each node, sorted. `sample_size`: the number of nodes it was estimated from; None if exact."""

    values: Mapping[str, float]
    engine: Engine
    sample_size: int | None = None


def _scores(graph: Arcs, values: Iterable[float], engine: Engine, sample_size: int | None = None) -> NodeScores:
    return NodeScores(dict(zip(graph.nodes, map(float, values), strict=True)), engine, sample_size)


def betweenness(graph: Arcs) -> NodeScores:
    """The share of the shortest paths between others that pass through each node, unweighted (Brandes 2001).

    Of too large a graph, estimated from the paths from some sources (Brandes and Pich 2007), scaled to the pairs of
    sources and other nodes that a node can stand between: a source has one source less.
    """
    exact = COUNTED_PATHS * len(graph) * graph.n_edges <= EXACT_UP_TO
    size = None if exact else _sources_needed(graph)
    if size is not None or _is_small(graph):
        import networkx as nx

        return NodeScores(nx.betweenness_centrality(graph.networkx, k=size, seed=SEED), "networkx", size)
    # In parallel the order of summation, and with it the last bits, would change from run to run.
    found = rx.digraph_betweenness_centrality(graph.rustworkx, parallel_threshold=len(graph) + 1)
    return _scores(graph, found.values(), "rustworkx")


def closeness(graph: Arcs, found: Distances) -> NodeScores:
    """Closeness over incoming paths: the share of the other nodes that reach a node, over their mean distance to it.

    0 for a node that no other reaches (Freeman 1979; for disconnected graphs, Wasserman and Faust 1994).
    `found`: the distances in the graph.
    """
    others = np.full(len(graph), len(found.sources))
    others[list(found.sources)] -= 1
    values = [
        n / total * (n / of) if n else 0.0
        for n, total, of in zip(found.reaching, found.total, others.tolist(), strict=True)
    ]
    return _scores(graph, values, found.engine, found.sample_size)


def clustering(graph: Arcs) -> NodeScores:
    """The clustering coefficient of each node of an undirected graph, or of a sample (Watts and Strogatz 1998).

    The share of pairs of neighbours that are neighbours of each other; 0 for fewer than two neighbours. Larger graphs
    by its formula, because rustworkx has it only of the whole graph and NetworkX makes each set of neighbours anew.
    """
    if _is_small(graph):
        import networkx as nx

        return NodeScores(cast("dict[str, float]", nx.clustering(graph.networkx)), "networkx")
    work = COMPARED_PAIRS * int((graph.out_degrees**2).sum())
    size = None if work <= EXACT_UP_TO else max(1, EXACT_UP_TO * len(graph) // work)
    ends = np.split(graph.heads, np.cumsum(graph.out_degrees)[:-1])
    near = [frozenset(each.tolist()) for each in ends]
    values = dict[str, float]()
    for node in range(len(graph)) if size is None else _sample(len(graph), size):
        linked = sum(len(near[node] & near[neighbour]) for neighbour in near[node])
        values[graph.nodes[node]] = linked / (len(near[node]) * (len(near[node]) - 1)) if linked else 0.0
    return NodeScores(values, "python", size)


def eigenvector(graph: Arcs) -> NodeScores | None:
    """Eigenvector centrality over incoming edges, unweighted (Bonacich 1972). None where the iteration does not settle.

    The eigenvector of the largest eigenvalue, of length 1. Only a strongly connected graph has exactly one
    without zeros.
    """
    tolerance, most = EIGENVECTOR_TOLERANCE, MAX_ITERATIONS
    if not _is_small(graph):
        try:
            found = rx.digraph_eigenvector_centrality(graph.rustworkx, tol=tolerance, max_iter=most)
        except rx.FailedToConverge:
            return None
        return _scores(graph, found.values(), "rustworkx")
    import networkx as nx

    try:
        return NodeScores(nx.eigenvector_centrality(graph.networkx, tol=tolerance, max_iter=most), "networkx")
    except nx.PowerIterationFailedConvergence:
        return None


def pagerank(graph: Arcs, damping: float) -> NodeScores:
    """PageRank, weighted (Brin and Page 1998): the share of a random walk's visits that go to each node; 1 in all.

    The walk jumps to a random node with probability `1 - damping`, and from a node without outgoing edges. Always by
    rustworkx, because NetworkX needs scipy for it (140 MB).
    """
    found = rx.pagerank(
        graph.rustworkx, alpha=damping, weight_fn=float, tol=PAGERANK_TOLERANCE, max_iter=MAX_ITERATIONS
    )
    return _scores(graph, found.values(), "rustworkx")
