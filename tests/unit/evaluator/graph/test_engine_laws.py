"""Law: on either side of the bound of an engine, every measure is what NetworkX says it is."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord_evaluator.graph import engines
from concord_evaluator.graph.engines import Arcs, NodeScores

DAMPING = 0.85


@st.composite
def digraphs(draw: st.DrawFn) -> "nx.DiGraph[str]":
    """Directed graphs of 30 to 70 nodes with few or many weighted edges, some of them strongly connected."""
    size = draw(st.integers(30, 70))
    density = draw(st.sampled_from([0.01, 0.05, 0.3]))
    edges = nx.gnp_random_graph(size, density, seed=draw(st.integers(0, 2**20)), directed=True)
    if draw(st.booleans()):
        edges.add_edges_from(nx.cycle_graph(size, create_using=nx.DiGraph).edges)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(f"n{node:03}" for node in range(size))
    graph.add_weighted_edges_from((f"n{a:03}", f"n{b:03}", 1 + (a * b) % 5) for a, b in sorted(edges.edges))
    return graph


def arcs_of(graph: "nx.Graph[str]") -> Arcs:
    """The same graph for the engines."""
    place = {node: number for number, node in enumerate(graph)}
    edges = [(place[tail], place[head], weight) for tail, head, weight in graph.edges(data="weight", default=1)]
    tails, heads, weights = np.array(edges, np.int64).reshape(-1, 3).T
    return Arcs.of(list(graph), tails, heads, weights, directed=graph.is_directed())


def stays_within(found: NodeScores, defined: object, error: float = 1e-9) -> bool:
    assert found.sample_size is None
    return found.values == pytest.approx(defined, abs=error, rel=error)


@given(digraphs())
@settings(max_examples=40, deadline=None)
def test_every_measure_is_networkxs_on_either_side_of_the_bound(graph: "nx.DiGraph[str]") -> None:
    arcs, undirected = arcs_of(graph), graph.to_undirected()
    distances = engines.distances(arcs)
    assert stays_within(engines.betweenness(arcs), nx.betweenness_centrality(graph))
    assert stays_within(engines.closeness(arcs, distances), nx.closeness_centrality(graph))
    assert stays_within(engines.clustering(arcs_of(undirected)), nx.clustering(undirected), 0)
    ranks = nx.pagerank(graph, alpha=DAMPING, tol=1e-12, max_iter=1000)
    assert stays_within(engines.pagerank(arcs, DAMPING), ranks, len(graph) * engines.PAGERANK_TOLERANCE / (1 - DAMPING))
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    assert distances.reached == tuple(len(lengths[node]) - 1 for node in graph)
    assert distances.harmonic == pytest.approx(
        [sum(1 / far for far in lengths[node].values() if far) for node in graph]
    )
    assert distances.pairs == sum(distances.reached)
    assert max(distances.histogram, default=0) == max(max(far.values()) for far in lengths.values())


@given(digraphs().filter(nx.is_strongly_connected))
@settings(max_examples=15, deadline=None)
def test_an_eigenvector_is_networkxs_as_far_as_the_iteration_goes(graph: "nx.DiGraph[str]") -> None:
    found = engines.eigenvector(arcs_of(graph))
    assert found is not None
    assert stays_within(found, nx.eigenvector_centrality_numpy(graph), 1e-5)
