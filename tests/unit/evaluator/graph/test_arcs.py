"""Graphs as arrays: the same nodes, edges and figures as the graphs of NetworkX."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.graph.engines import Arcs

NODES = ("a", "b", "c", "d", "e")

_ends = st.sampled_from(range(len(NODES)))
_edges = st.lists(st.tuples(_ends, _ends, st.integers(1, 3)).filter(lambda edge: edge[0] != edge[1]), max_size=12)
Edges = list[tuple[int, int, int]]


def of(edges: Edges, *, directed: bool = True) -> Arcs:
    tails, heads, weights = np.array(edges, np.int64).reshape(-1, 3).T
    return Arcs.of(NODES, tails, heads, weights, directed=directed)


def defined(edges: Edges) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(NODES)
    for tail, head, weight in edges:
        before = graph.get_edge_data(NODES[tail], NODES[head], {"weight": 0})["weight"]
        graph.add_edge(NODES[tail], NODES[head], weight=before + weight)
    return graph


@given(_edges)
def test_networkx_gets_the_same_graph_with_sorted_edges(edges: Edges) -> None:
    graph = of(edges).networkx
    assert list(graph.nodes) == list(NODES)
    assert list(graph.edges(data="weight")) == sorted(defined(edges).edges(data="weight"))


@given(_edges)
def test_without_directions_a_pair_is_one_edge(edges: Edges) -> None:
    graph, expected = of(edges).undirected(), defined(edges).to_undirected()
    assert nx.utils.graphs_equal(nx.Graph(graph.networkx.edges), nx.Graph(expected.edges))
    assert graph.n_edges == expected.number_of_edges()
    assert graph.out_degrees.tolist() == [expected.degree(node) for node in NODES]


@given(_edges)
def test_figures_are_those_of_networkx(edges: Edges) -> None:
    graph, expected = of(edges), defined(edges)
    assert graph.n_edges == expected.number_of_edges()
    assert graph.density == nx.density(expected)
    assert graph.n_components == nx.number_weakly_connected_components(expected)
    assert graph.is_strongly_connected == nx.is_strongly_connected(expected)
    assert graph.loads.tolist() == [expected.degree(node, weight="weight") for node in NODES]
    returned = [expected.get_edge_data(b, a, {"weight": 0})["weight"] for a, b in graph.networkx.edges]
    assert graph.returned.tolist() == returned


@pytest.mark.parametrize("nodes", [(), ("a",)])
def test_fewer_than_two_nodes_have_no_density(nodes: tuple[str, ...]) -> None:
    none = np.zeros(0, np.int64)
    graph = Arcs.of(nodes, none, none, none)
    assert (graph.density, graph.n_edges, graph.loads.tolist()) == (None, 0, [0] * len(nodes))
    assert graph.returned.tolist() == []
