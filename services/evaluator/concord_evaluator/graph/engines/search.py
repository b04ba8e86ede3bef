"""Breadth-first search from chosen sources, in NumPy: several searches at once, level by level.

A level costs a few operations on arrays, whatever the number of searches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from concord_evaluator.graph.engines.scores import Graph

_AT_ONCE: Final = 4_000_000
"""Nodes and edges of the searches that count paths at once: about 200 MB."""

_BITS: Final = 256
"""Searches for distances that run at once. In a long chain, each node of a level has one bit of all."""

Indices: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
Amounts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Reached: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"


@dataclass(frozen=True, slots=True)
class Adjacency:
    """The edges of a graph whose nodes are numbered. Those of node `i` go to `heads[first[i]:first[i + 1]]`."""

    first: Indices
    heads: Indices

    @classmethod
    def of(cls, graph: Graph) -> "Adjacency":
        """The edges along their direction; an undirected edge has both."""
        position = {node: index for index, node in enumerate(graph)}
        heads = [[position[head] for head in graph[node]] for node in graph]
        first = np.zeros(len(heads) + 1, np.int64)
        np.cumsum([len(each) for each in heads], out=first[1:])
        return cls(first, np.fromiter((head for each in heads for head in each), np.int64, first[-1]))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.first) - 1

    def edges_from(self, nodes: Indices) -> tuple[Indices, Indices]:
        """The edges of these nodes: by edge, the place of its tail in `nodes`, and its head."""
        first = self.first[nodes]
        degrees = self.first[nodes + 1] - first
        before = np.cumsum(degrees) - degrees
        edges = np.arange(int(degrees.sum())) + np.repeat(first - before, degrees)
        return np.repeat(np.arange(len(nodes)), degrees), self.heads[edges]


@dataclass(frozen=True, slots=True)
class _Level:
    """The edges of shortest paths into one level, from `tails` to `heads`: searches times nodes, flattened."""

    tails: Indices
    heads: Indices


class _Searches:
    """Searches from several sources. `distances`: by search and node, flattened; -1 where none leads."""

    def __init__(self, adjacency: Adjacency, sources: Indices) -> None:
        self._adjacency, self._n = adjacency, adjacency.size
        self.starts: Indices = np.arange(len(sources)) * self._n + sources
        self.distances = np.full(len(sources) * self._n, -1, np.int32)
        self._last_edge = np.empty(len(self.distances), np.int64)

    def levels(self) -> Iterator[_Level]:
        """The levels, nearest first. Fills in `distances`."""
        frontier, distance = self.starts, 0
        self.distances[frontier] = 0
        while len(frontier):
            distance += 1
            tails, heads = self._edges_from(frontier)
            new = self.distances[heads] < 0
            tails, heads = tails[new], heads[new]
            self.distances[heads] = distance
            # Each node once: an edge that is the last one to write its number.
            numbers = np.arange(len(heads))
            self._last_edge[heads] = numbers
            frontier = heads[self._last_edge[heads] == numbers]
            if len(frontier):
                yield _Level(tails, heads)

    def _edges_from(self, frontier: Indices) -> tuple[Indices, Indices]:
        nodes = frontier % self._n
        place, heads = self._adjacency.edges_from(nodes)
        return frontier[place], heads + (frontier - nodes)[place]


def _chunks(adjacency: Adjacency, sources: Sequence[int]) -> Iterator[Indices]:
    size = max(1, _AT_ONCE // (adjacency.size + len(adjacency.heads) + 1))
    for start in range(0, len(sources), size):
        yield np.array(sources[start : start + size], np.int64)


def reached_from(
    adjacency: Adjacency, sources: Sequence[int]
) -> "Iterator[tuple[Sequence[int], Iterator[tuple[Indices, Reached]]]]":
    """Some sources at a time. For each distance from one edge on: the nodes that any of these sources is so far from,
    and which of the sources each node is from.

    These searches run together, each in a bit of its own (Then and others 2014).
    """
    for first in range(0, len(sources), _BITS):
        chunk = sources[first : first + _BITS]
        yield chunk, _levels_from(adjacency, chunk)


def _levels_from(adjacency: Adjacency, sources: Sequence[int]) -> "Iterator[tuple[Indices, Reached]]":
    started = np.zeros((adjacency.size, len(sources)), np.bool_)
    started[sources, np.arange(len(sources))] = True
    seen = np.packbits(started, axis=1)
    nodes: Indices = np.unique(np.array(sources, np.int64))
    new = seen[nodes]
    while len(nodes):
        place, heads = adjacency.edges_from(nodes)
        order = np.argsort(heads, kind="stable")
        heads, firsts = np.unique(heads[order], return_index=True)
        if not len(heads):
            return
        found = np.bitwise_or.reduceat(new[place[order]], firsts, axis=0) & ~seen[heads]
        some = found.any(axis=1)
        nodes, new = heads[some], found[some]
        seen[nodes] |= new
        if len(nodes):
            yield nodes, np.unpackbits(new, axis=1, count=len(sources)).view(np.bool_)


def dependencies(adjacency: Adjacency, sources: Sequence[int]) -> Amounts:
    """By node, the sum over sources and nodes of the share of shortest paths that pass through it (Brandes 2001)."""
    total = np.zeros(adjacency.size)
    for chunk in _chunks(adjacency, sources):
        searches = _Searches(adjacency, chunk)
        paths = np.zeros(len(searches.distances))
        paths[searches.starts] = 1
        levels = []
        for level in searches.levels():
            np.add.at(paths, level.heads, paths[level.tails])
            levels.append(level)
        passing = np.zeros(len(paths))
        for level in reversed(levels):
            share = paths[level.tails] / paths[level.heads] * (1 + passing[level.heads])
            np.add.at(passing, level.tails, share)
        passing[searches.starts] = 0
        total += passing.reshape(len(chunk), adjacency.size).sum(axis=0)
    return total
