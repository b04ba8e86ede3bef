"""Closeness (Freeman 1979, as Wasserman and Faust 1994 improved it for disconnected graphs), over incoming paths."""

import networkx as nx
import rustworkx as rx

from concord_evaluator.graph.engines.bounds import is_exact, is_small, number_of_sources, sample
from concord_evaluator.graph.engines.scores import Graph, Scores, indexed, named


def closeness(graph: Graph) -> Scores:
    """The share of the others that reach a node, over the mean distance from these; 0 for whom nobody reaches."""
    if is_small(graph):
        return Scores(nx.closeness_centrality(graph), "networkx")
    if is_exact(graph):
        found = rx.digraph_closeness_centrality(indexed(graph), parallel_threshold=len(graph) + 1)
        return Scores(named(graph, found), "rustworkx")
    return _sampled(graph)


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
