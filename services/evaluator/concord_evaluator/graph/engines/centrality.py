"""A score for each node: betweenness, closeness, clustering, eigenvector centrality and PageRank."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, cast

import networkx as nx
import numpy as np
import rustworkx as rx

from concord_evaluator.graph.engines import arcs
from concord_evaluator.graph.engines.arcs import (
    Amounts,
    Arcs,
    Indices,
    NodeScores,
    counts_all_paths,
    is_small,
    named,
    number_of_sources,
    sample,
)
from concord_evaluator.graph.engines.distances import Distances
from concord_evaluator.graph.engines.search import dependencies

EIGENVECTOR_TOLERANCE: Final = 1e-8
PAGERANK_TOLERANCE: Final = 1e-10
MAX_ITERATIONS: Final = 1000
"""Iterations after which PageRank has settled for a damping of up to 0.95, and the eigenvector counts as unsettled."""

_AT_ONCE: Final = 4_000_000
"""Paths of two arcs that are looked at together: about 200 MB."""


def betweenness(graph: Arcs) -> NodeScores:
    """Betweenness: the share of the shortest paths between other nodes that pass through each node.

    Unweighted, normalised, without endpoints (Brandes 2001; with sampled sources, Brandes and Pich 2007).
    """
    if is_small(graph):
        return NodeScores(nx.betweenness_centrality(graph.networkx), "networkx")
    if counts_all_paths(graph):
        # In parallel the order of summation, and with it the last bits, would change from run to run.
        found = rx.digraph_betweenness_centrality(graph.rustworkx, parallel_threshold=len(graph) + 1)
        return NodeScores(named(graph, found.values()), "rustworkx")
    return _sampled_betweenness(graph)


def _sampled_betweenness(graph: Arcs) -> NodeScores:
    """Scaled to the pairs of sources and other nodes that a node can stand between: a source has one source less."""
    sources = sample(len(graph), number_of_sources(graph))
    others = np.full(len(graph), len(sources))
    others[sources] -= 1
    found = dependencies(graph, sources) / (max(1, len(graph) - 2) * others.clip(min=1))
    return NodeScores(named(graph, found.tolist()), "numpy", len(sources))


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
    return NodeScores(named(graph, values), found.engine, len(found.sources) if found.sampled else None)


def clustering(graph: Arcs) -> NodeScores:
    """The clustering coefficient of each node of an undirected graph, or of a sample (Watts and Strogatz 1998).

    The share of pairs of neighbours that are neighbours of each other; 0 for fewer than two neighbours.
    """
    if is_small(graph):
        return NodeScores(dict(cast("dict[str, float]", nx.clustering(graph.networkx))), "networkx")
    work = int((graph.out_degrees**2).sum())
    if work <= arcs.CLUSTERING_WORK:
        return NodeScores(named(graph, _coefficients(graph, np.arange(len(graph)))), "numpy")
    nodes = sample(len(graph), max(1, arcs.CLUSTERING_WORK * len(graph) // work))
    values = _coefficients(graph, np.array(nodes, np.int64)).tolist()
    return NodeScores(
        {graph.nodes[node]: value for node, value in zip(nodes, values, strict=True)}, "numpy", len(nodes)
    )


def _coefficients(graph: Arcs, nodes: Indices) -> Amounts:
    """By node, twice the number of its triangles over the number of ordered pairs of its neighbours."""
    triangles = np.zeros(len(nodes), np.int64)
    degrees = graph.out_degrees[nodes]
    place, neighbours = np.repeat(np.arange(len(nodes)), degrees), graph.heads[graph.arcs_from(nodes)]
    for some in _pieces(graph.out_degrees[neighbours]):
        corner = np.repeat(place[some], graph.out_degrees[neighbours[some]])
        ends = graph.heads[graph.arcs_from(neighbours[some])]
        closed = np.isin(nodes[corner] * len(graph) + ends, graph.keys)
        triangles += np.bincount(corner[closed], minlength=len(nodes))
    coefficients: Amounts = triangles / (degrees * (degrees - 1)).clip(min=1)
    return coefficients


def _pieces(sizes: Indices) -> Iterator[slice]:
    """Slices whose sizes add up to about `_AT_ONCE`."""
    piece = np.cumsum(sizes) // _AT_ONCE
    bounds_of = np.flatnonzero(np.diff(piece, prepend=-1, append=-2)).tolist() if len(sizes) else []
    yield from (slice(start, end) for start, end in pairwise(bounds_of))


def eigenvector(graph: Arcs) -> NodeScores | None:
    """Eigenvector centrality over incoming edges, unweighted (Bonacich 1972). None where the iteration does not settle.

    The eigenvector of the largest eigenvalue, of length 1. Only a strongly connected graph has exactly one
    without zeros.
    """
    if is_small(graph):
        try:
            values = nx.eigenvector_centrality(graph.networkx, tol=EIGENVECTOR_TOLERANCE, max_iter=MAX_ITERATIONS)
        except nx.PowerIterationFailedConvergence:
            return None
        return NodeScores(values, "networkx")
    try:
        found = rx.digraph_eigenvector_centrality(graph.rustworkx, tol=EIGENVECTOR_TOLERANCE, max_iter=MAX_ITERATIONS)
    except rx.FailedToConverge:
        return None
    return NodeScores(named(graph, found.values()), "rustworkx")


def pagerank(graph: Arcs, damping: float) -> NodeScores:
    """PageRank, weighted (Brin and Page 1998): the share of a random walk's visits that go to each node; 1 in all.

    The walk jumps to a random node with probability `1 - damping`, and from a node without outgoing edges. Always by
    rustworkx, because networkx needs scipy for it (140 MB).
    """
    found = rx.pagerank(
        graph.rustworkx, alpha=damping, weight_fn=float, tol=PAGERANK_TOLERANCE, max_iter=MAX_ITERATIONS
    )
    return NodeScores(named(graph, found.values()), "rustworkx")
