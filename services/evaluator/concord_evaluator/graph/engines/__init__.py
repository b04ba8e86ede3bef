"""Costly graph algorithms. NetworkX computes small graphs, rustworkx larger ones, and a sample of nodes the largest."""

from concord_evaluator.graph.engines.arcs import Arcs, NodeScores
from concord_evaluator.graph.engines.centrality import betweenness, closeness, clustering, eigenvector, pagerank
from concord_evaluator.graph.engines.distances import Distances, distances

__all__ = [
    "Arcs",
    "Distances",
    "NodeScores",
    "betweenness",
    "closeness",
    "clustering",
    "distances",
    "eigenvector",
    "pagerank",
]
