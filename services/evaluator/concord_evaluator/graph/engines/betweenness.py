"""Betweenness (Brandes 2001; sampled sources: Brandes and Pich 2007): unweighted, normalised, without endpoints."""

import networkx as nx
import rustworkx as rx

from concord_evaluator.graph.engines.bounds import SEED, is_exact, is_small, number_of_sources
from concord_evaluator.graph.engines.scores import Graph, Scores, indexed, named


def betweenness(graph: Graph) -> Scores:
    """The share of the shortest paths between others that pass through each node."""
    if is_small(graph):
        return Scores(nx.betweenness_centrality(graph), "networkx")
    if is_exact(graph):
        # In parallel the order of summation, and with it the last bits, would change from run to run.
        found = rx.digraph_betweenness_centrality(indexed(graph), parallel_threshold=len(graph) + 1)
        return Scores(named(graph, found), "rustworkx")
    sources = number_of_sources(graph)
    return Scores(nx.betweenness_centrality(graph, k=sources, seed=SEED), "networkx", sources)
