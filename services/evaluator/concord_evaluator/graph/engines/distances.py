"""Distances between nodes (edges), summarised so that they need not be kept."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum

import networkx as nx
import numpy as np
import rustworkx as rx

from concord_evaluator.graph.engines.bounds import fits_a_matrix, is_small, number_of_sources, sample
from concord_evaluator.graph.engines.scores import Engine, Graph, indexed
from concord_evaluator.graph.engines.search import Adjacency, reached_from


@dataclass(frozen=True, slots=True)
class Distances:
    """By source: `reached`, the number of nodes that it reaches, and `harmonic`, the sum of 1 / distance to them.

    `histogram`: the number of pairs (source, node) by distance. `sampled`: whether the sources are a sample.
    """

    sources: tuple[str, ...]
    reached: tuple[int, ...]
    harmonic: tuple[float, ...]
    histogram: dict[int, int]
    engine: Engine
    sampled: bool

    @property
    def pairs(self) -> int:
        """The number of pairs (source, node) where the source reaches the node."""
        return sum(self.histogram.values())


def distances(graph: Graph) -> Distances:
    """The distances from all nodes, or from a sample of nodes, along the direction of the edges."""
    if is_small(graph):
        return _added_up(list(graph), _walked(graph, graph), "networkx", sampled=False)
    if fits_a_matrix(graph):
        return _added_up(list(graph), _looked_up(graph), "rustworkx", sampled=False)
    sources = sample(list(graph), number_of_sources(graph))
    return _added_up(sources, _searched(graph, sources), "numpy", sampled=True)


def matrix(graph: Graph) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """The distance from each node (row) to each (column), in the order of the nodes; 0 without a path."""
    found: np.ndarray[tuple[int, int], np.dtype[np.float64]] = rx.digraph_distance_matrix(
        indexed(graph), parallel_threshold=len(graph) + 1
    )
    return found


def _walked(graph: Graph, sources: Iterable[str]) -> Iterator[dict[int, int]]:
    for source in sources:
        counts = Counter(nx.single_source_shortest_path_length(graph, source).values())
        del counts[0]
        yield counts


def _searched(graph: Graph, sources: Iterable[str]) -> Iterator[dict[int, int]]:
    position = {node: index for index, node in enumerate(graph)}
    for chunk, levels in reached_from(Adjacency.of(graph), [position[source] for source in sources]):
        found = [reached.sum(axis=0, dtype=np.int32) for _, reached in levels]
        for counts in np.array(found, np.int32).reshape(-1, len(chunk)).T:
            yield {distance + 1: int(counts[distance]) for distance in np.flatnonzero(counts).tolist()}


def _looked_up(graph: Graph) -> Iterator[dict[int, int]]:
    for row in matrix(graph):
        counts = np.bincount(row.astype(np.int64))
        yield {distance: int(counts[distance]) for distance in np.flatnonzero(counts).tolist() if distance}


def _added_up(sources: list[str], rows: Iterable[dict[int, int]], engine: Engine, *, sampled: bool) -> Distances:
    histogram: Counter[int] = Counter()
    reached: list[int] = []
    harmonic: list[float] = []
    for counts in rows:
        histogram.update(counts)
        reached.append(sum(counts.values()))
        harmonic.append(fsum(count / distance for distance, count in counts.items()))
    return Distances(tuple(sources), tuple(reached), tuple(harmonic), dict(sorted(histogram.items())), engine, sampled)
