"""Clustering (Watts and Strogatz 1998): how many of a node's neighbours are neighbours too."""

from collections.abc import Iterable
from typing import cast

import networkx as nx

from concord_evaluator.graph.engines import bounds
from concord_evaluator.graph.engines.scores import Graph, Scores


def clustering(graph: Graph) -> Scores:
    """The coefficient of each node of an undirected graph, or of a sample of them; 0 for fewer than two neighbours."""
    work = sum(degree**2 for _, degree in graph.degree())
    if work <= bounds.CLUSTERING_WORK:
        return Scores(_coefficients(graph, graph), "networkx")
    nodes = bounds.sample(list(graph), max(1, bounds.CLUSTERING_WORK * len(graph) // work))
    return Scores(_coefficients(graph, nodes), "networkx", len(nodes))


def _coefficients(graph: Graph, nodes: Iterable[str]) -> dict[str, float]:
    return {node: cast("float", nx.clustering(graph, node)) for node in nodes}
