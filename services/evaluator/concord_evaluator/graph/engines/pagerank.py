"""PageRank (Brin and Page 1998), weighted; who sends nothing passes its rank on to all alike."""

from typing import Final

import networkx as nx
import rustworkx as rx

from concord_evaluator.graph.engines.bounds import is_small
from concord_evaluator.graph.engines.scores import Graph, Scores, indexed, named

TOLERANCE: Final = 1e-10
MAX_ITERATIONS: Final = 1000
"""Enough for a damping of .95 and less."""


def pagerank(graph: Graph, damping: float) -> Scores:
    """How often a walk along the edges, which with `1 - damping` jumps anywhere, comes by each node; 1 in all."""
    if is_small(graph):
        ranks = nx.pagerank(graph, alpha=damping, tol=TOLERANCE, max_iter=MAX_ITERATIONS)
        return Scores({node: float(rank) for node, rank in ranks.items()}, "networkx")
    found = rx.pagerank(indexed(graph), alpha=damping, weight_fn=float, tol=TOLERANCE, max_iter=MAX_ITERATIONS)
    return Scores(named(graph, found), "rustworkx")
