"""Eigenvector centrality (Bonacich 1972), unweighted, over incoming edges."""

from typing import Final

import networkx as nx
import rustworkx as rx

from concord_evaluator.graph.engines.bounds import is_small
from concord_evaluator.graph.engines.scores import Graph, Scores, indexed, named

TOLERANCE: Final = 1e-8
MAX_ITERATIONS: Final = 1000


def eigenvector(graph: Graph) -> Scores | None:
    """The eigenvector of the largest eigenvalue, of length 1; None where it does not settle.

    Only of a strongly connected graph is there one such vector with no zeros.
    """
    if is_small(graph):
        try:
            values = nx.eigenvector_centrality(graph, tol=TOLERANCE, max_iter=MAX_ITERATIONS)
        except nx.PowerIterationFailedConvergence:
            return None
        return Scores(values, "networkx")
    try:
        found = rx.digraph_eigenvector_centrality(indexed(graph), tol=TOLERANCE, max_iter=MAX_ITERATIONS)
    except rx.FailedToConverge:
        return None
    return Scores(named(graph, found), "rustworkx")
