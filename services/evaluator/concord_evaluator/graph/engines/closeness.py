"""Closeness (Freeman 1979, as Wasserman and Faust 1994 improved it for disconnected graphs), over incoming paths."""

import networkx as nx
import numpy as np

from concord_evaluator.graph.engines.bounds import fits_a_matrix, is_small, number_of_sources, sample
from concord_evaluator.graph.engines.distances import matrix
from concord_evaluator.graph.engines.scores import Graph, Scores


def closeness(graph: Graph) -> Scores:
    """The share of the others that reach a node, over the mean distance from these; 0 for whom nobody reaches."""
    if is_small(graph):
        return Scores(nx.closeness_centrality(graph), "networkx")
    return _looked_up(graph) if fits_a_matrix(graph) else _sampled(graph)


def _looked_up(graph: Graph) -> Scores:
    """From the matrix of distances: rustworkx has a function of its own, ten times as slow on a dense graph."""
    distances = matrix(graph)
    reaching, total = np.count_nonzero(distances, axis=0).tolist(), distances.sum(axis=0).tolist()
    others = max(1, len(graph) - 1)
    values = {
        node: n / total_of * (n / others) if n else 0.0
        for node, n, total_of in zip(graph, reaching, total, strict=True)
    }
    return Scores(values, "rustworkx")


def _sampled(graph: Graph) -> Scores:
    sources = sample(list(graph), number_of_sources(graph))
    reaching, total = dict.fromkeys(graph, 0), dict.fromkeys(graph, 0)
    for source in sources:
        for node, distance in nx.single_source_shortest_path_length(graph, source).items():
            if distance:
                reaching[node] += 1
                total[node] += distance
    asked = set(sources)
    values = {
        node: reaching[node] ** 2 / (total[node] * (len(sources) - (node in asked))) if total[node] else 0.0
        for node in graph
    }
    return Scores(values, "networkx", len(sources))
