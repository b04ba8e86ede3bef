"""A score for each node: betweenness, closeness, clustering, eigenvector centrality and PageRank."""

from collections.abc import Iterable
from typing import Final, cast

import networkx as nx
import numpy as np
import rustworkx as rx

from concord_evaluator.graph.engines import bounds
from concord_evaluator.graph.engines.bounds import counts_all_paths, fits_a_matrix, is_small, number_of_sources, sample
from concord_evaluator.graph.engines.distances import matrix
from concord_evaluator.graph.engines.scores import Graph, Scores, indexed, named
from concord_evaluator.graph.engines.search import Adjacency, dependencies, reached_from

EIGENVECTOR_TOLERANCE: Final = 1e-8
PAGERANK_TOLERANCE: Final = 1e-10
MAX_ITERATIONS: Final = 1000
"""Iterations after which PageRank has settled for a damping of up to 0.95, and the eigenvector counts as unsettled."""


def betweenness(graph: Graph) -> Scores:
    """Betweenness: the share of the shortest paths between other nodes that pass through each node.

    Unweighted, normalised, without endpoints (Brandes 2001; with sampled sources, Brandes and Pich 2007).
    """
    if is_small(graph):
        return Scores(nx.betweenness_centrality(graph), "networkx")
    if counts_all_paths(graph):
        # In parallel the order of summation, and with it the last bits, would change from run to run.
        found = rx.digraph_betweenness_centrality(indexed(graph), parallel_threshold=len(graph) + 1)
        return Scores(named(graph, found), "rustworkx")
    return _sampled_betweenness(graph)


def _sampled_betweenness(graph: Graph) -> Scores:
    """Scaled to the pairs of sources and other nodes that a node can stand between: a source has one source less."""
    position = {node: index for index, node in enumerate(graph)}
    sources = {position[node] for node in sample(list(graph), number_of_sources(graph))}
    found = dependencies(Adjacency.of(graph), sorted(sources)).tolist()
    targets = max(1, len(graph) - 2)
    values = {
        node: passing / (targets * max(1, len(sources) - (index in sources)))
        for (index, node), passing in zip(enumerate(graph), found, strict=True)
    }
    return Scores(values, "numpy", len(sources))


def closeness(graph: Graph) -> Scores:
    """Closeness over incoming paths: the share of the other nodes that reach a node, over their mean distance to it.

    0 for a node that no other reaches (Freeman 1979; for disconnected graphs, Wasserman and Faust 1994).
    """
    if is_small(graph):
        return Scores(nx.closeness_centrality(graph), "networkx")
    return _looked_up(graph) if fits_a_matrix(graph) else _sampled(graph)


def _looked_up(graph: Graph) -> Scores:
    """From the matrix of distances: the closeness function of rustworkx is ten times as slow on a dense graph."""
    distances = matrix(graph)
    reaching, total = np.count_nonzero(distances, axis=0).tolist(), distances.sum(axis=0).tolist()
    others = max(1, len(graph) - 1)
    values = {
        node: n / total_of * (n / others) if n else 0.0
        for node, n, total_of in zip(graph, reaching, total, strict=True)
    }
    return Scores(values, "rustworkx")


def _sampled(graph: Graph) -> Scores:
    position = {node: index for index, node in enumerate(graph)}
    sources = [position[node] for node in sample(list(graph), number_of_sources(graph))]
    reaching, total = np.zeros(len(graph), np.int64), np.zeros(len(graph), np.int64)
    for _, levels in reached_from(Adjacency.of(graph), sources):
        for distance, (nodes, reached) in enumerate(levels, start=1):
            found = reached.sum(axis=1)
            reaching[nodes] += found
            total[nodes] += distance * found
    asked = set(sources)
    values = {
        node: n**2 / (total_of * (len(sources) - (position[node] in asked))) if n else 0.0
        for node, n, total_of in zip(graph, reaching.tolist(), total.tolist(), strict=True)
    }
    return Scores(values, "numpy", len(sources))


def clustering(graph: Graph) -> Scores:
    """The clustering coefficient of each node of an undirected graph, or of a sample (Watts and Strogatz 1998).

    The share of pairs of neighbours that are neighbours of each other; 0 for fewer than two neighbours.
    """
    work = sum(degree**2 for _, degree in graph.degree())
    if work <= bounds.CLUSTERING_WORK:
        return Scores(_coefficients(graph, graph), "networkx")
    nodes = bounds.sample(list(graph), max(1, bounds.CLUSTERING_WORK * len(graph) // work))
    return Scores(_coefficients(graph, nodes), "networkx", len(nodes))


def _coefficients(graph: Graph, nodes: Iterable[str]) -> dict[str, float]:
    return dict(cast("dict[str, float]", nx.clustering(graph, nodes)))


def eigenvector(graph: Graph) -> Scores | None:
    """Eigenvector centrality over incoming edges, unweighted (Bonacich 1972). None where the iteration does not settle.

    The eigenvector of the largest eigenvalue, of length 1. Only a strongly connected graph has exactly one
    without zeros.
    """
    if is_small(graph):
        try:
            values = nx.eigenvector_centrality(graph, tol=EIGENVECTOR_TOLERANCE, max_iter=MAX_ITERATIONS)
        except nx.PowerIterationFailedConvergence:
            return None
        return Scores(values, "networkx")
    try:
        found = rx.digraph_eigenvector_centrality(indexed(graph), tol=EIGENVECTOR_TOLERANCE, max_iter=MAX_ITERATIONS)
    except rx.FailedToConverge:
        return None
    return Scores(named(graph, found), "rustworkx")


def pagerank(graph: Graph, damping: float) -> Scores:
    """PageRank, weighted (Brin and Page 1998): the share of a random walk's visits that go to each node; 1 in all.

    The walk jumps to a random node with probability `1 - damping`, and from a node without outgoing edges. Always by
    rustworkx, because networkx needs scipy for it (140 MB).
    """
    found = rx.pagerank(indexed(graph), alpha=damping, weight_fn=float, tol=PAGERANK_TOLERANCE, max_iter=MAX_ITERATIONS)
    return Scores(named(graph, found), "rustworkx")
