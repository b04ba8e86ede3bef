"""Costly graph algorithms. NetworkX computes small graphs, rustworkx larger ones, and a sample of nodes the largest."""

from concord_evaluator.graph.engines.centrality import betweenness, closeness, clustering, eigenvector, pagerank
from concord_evaluator.graph.engines.distances import Distances, distances
from concord_evaluator.graph.engines.scores import Graph, Scores

__all__ = [
    "Distances",
    "Graph",
    "Scores",
    "betweenness",
    "closeness",
    "clustering",
    "distances",
    "eigenvector",
    "pagerank",
]
