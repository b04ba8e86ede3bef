"""The engines behind what is costly: NetworkX defines it, rustworkx takes over where it is faster, sampling beyond."""

from concord_evaluator.graph.engines.betweenness import betweenness
from concord_evaluator.graph.engines.closeness import closeness
from concord_evaluator.graph.engines.clustering import clustering
from concord_evaluator.graph.engines.distances import Distances, distances
from concord_evaluator.graph.engines.eigenvector import eigenvector
from concord_evaluator.graph.engines.pagerank import pagerank
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
