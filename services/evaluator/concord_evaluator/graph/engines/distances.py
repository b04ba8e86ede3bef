"""Distances between nodes (edges), summarised so that they need not be kept."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

import networkx as nx
import numpy as np
import rustworkx as rx

from concord_evaluator.graph.engines.arcs import (
    Arcs,
    Engine,
    fits_a_matrix,
    is_small,
    number_of_sources,
    sample,
)
from concord_evaluator.graph.engines.search import Reach, reach


@dataclass(frozen=True, slots=True)
class Distances:
    """By source: `reached`, the number of nodes that it reaches, and `harmonic`, the sum of 1 / distance to them.

    `sources`: the numbers of the nodes that distances are from, ascending. `sampled`: whether they are a sample.
    `histogram`: the number of pairs (source, node) by distance. By node: `reaching`, the number of sources that reach
    it, and `total`, the sum of their distances.
    """

    sources: tuple[int, ...]
    reached: tuple[int, ...]
    harmonic: tuple[float, ...]
    histogram: dict[int, int]
    reaching: tuple[int, ...]
    total: tuple[int, ...]
    engine: Engine
    sampled: bool

    @property
    def pairs(self) -> int:
        """The number of pairs (source, node) where the source reaches the node."""
        return sum(self.histogram.values())


def distances(graph: Arcs) -> Distances:
    """The distances from all nodes, or from a sample of nodes, along the direction of the edges."""
    everyone = range(len(graph))
    if is_small(graph):
        return _added_up(everyone, _walked(graph), "networkx", sampled=False)
    if fits_a_matrix(graph):
        return _added_up(everyone, _looked_up(graph), "rustworkx", sampled=False)
    sources = sample(len(graph), number_of_sources(graph))
    return _added_up(sources, reach(graph, sources), "numpy", sampled=True)


def _walked(graph: Arcs) -> Reach:
    place = {node: number for number, node in enumerate(graph.nodes)}
    found = np.zeros((len(graph), len(graph)), np.int32)
    for source, node in enumerate(graph.nodes):
        for target, length in nx.single_source_shortest_path_length(graph.networkx, node).items():
            found[source, place[target]] = length
    return _of_matrix(found)


def _looked_up(graph: Arcs) -> Reach:
    return _of_matrix(rx.digraph_distance_matrix(graph.rustworkx, parallel_threshold=len(graph) + 1).astype(np.int32))


def _of_matrix(found: "np.ndarray[tuple[int, int], np.dtype[np.int32]]") -> Reach:
    """Of the distance from each node (row) to each (column); 0 without a path."""
    total = found.sum(axis=0, dtype=np.int64)
    return Reach([np.bincount(row)[1:] for row in found], np.count_nonzero(found, axis=0), total)


def _added_up(sources: Iterable[int], found: Reach, engine: Engine, *, sampled: bool) -> Distances:
    histogram = np.zeros(max(map(len, found.by_distance), default=0), np.int64)
    for counts in found.by_distance:
        histogram[: len(counts)] += counts
    distance = np.arange(1, len(histogram) + 1)
    return Distances(
        sources=tuple(sources),
        reached=tuple(int(counts.sum()) for counts in found.by_distance),
        harmonic=tuple(fsum((counts / distance[: len(counts)]).tolist()) for counts in found.by_distance),
        histogram={far: count for far, count in enumerate(histogram.tolist(), 1) if count},
        reaching=tuple(found.sources.tolist()),
        total=tuple(found.total.tolist()),
        engine=engine,
        sampled=sampled,
    )
