"""The result of an engine, and the conversion between NetworkX and rustworkx."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import networkx as nx
import rustworkx as rx

Engine = Literal["networkx", "numpy", "rustworkx"]

Graph: TypeAlias = "nx.Graph[str]"
"""Directed or undirected: NetworkX's `DiGraph` is a subclass of `Graph`."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A score for each node, sorted. `sources`: the number of nodes it was estimated from; None if exact."""

    values: Mapping[str, float]
    engine: Engine
    sources: int | None = None


def indexed(graph: Graph) -> "rx.PyDiGraph[str, float]":
    """The graph for rustworkx, with nodes by their index in `graph`. An undirected edge becomes two directed ones."""
    position = {node: index for index, node in enumerate(graph)}
    edges = [
        (position[tail], position[head], float(weight)) for tail, head, weight in graph.edges(data="weight", default=1)
    ]
    if not graph.is_directed():
        edges += [(head, tail, weight) for tail, head, weight in edges if head != tail]
    converted: rx.PyDiGraph[str, float] = rx.PyDiGraph(multigraph=False)
    converted.add_nodes_from(list(graph))
    converted.add_edges_from(edges)
    return converted


def named(graph: Graph, values: Mapping[int, float]) -> dict[str, float]:
    """Scores by index as scores by node."""
    return {node: float(values[index]) for index, node in enumerate(graph)}
