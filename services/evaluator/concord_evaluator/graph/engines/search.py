"""Breadth-first search from chosen sources, in NumPy: several searches at once, level by level."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from concord_evaluator.graph.engines.arcs import Amounts, Arcs, Indices

_AT_ONCE: Final = 250_000
"""Nodes and arcs of the searches whose paths are followed at once: few enough for a processor's cache."""

_BITS: Final = 256
"""Searches that run at once in bits."""

_Words: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.uint8]]"


@dataclass(frozen=True, slots=True)
class Reach:
    """How far nodes are from sources. `by_distance`: by source, the number of nodes at each distance, from 1 on.

    `sources`: by node, the number of sources from which a path leads to it. `total`: the sum of their distances.
    """

    by_distance: Sequence[Indices]
    sources: Indices
    total: Indices


def reach(graph: Arcs, sources: Sequence[int]) -> Reach:
    """The distances from sources.

    A level of a search in bits passes all arcs, whatever the number of searches; a search that follows paths passes
    each arc once. So a chunk of searches runs in bits as long as it has no more levels than searches.
    """
    by_distance: list[Indices] = []
    reaching, total = np.zeros(len(graph), np.int64), np.zeros(len(graph), np.int64)
    in_bits = True
    for first in range(0, len(sources), _BITS):
        chunk = np.array(sources[first : first + _BITS], np.int64)
        found = _in_bits(graph, chunk) if in_bits else None
        in_bits = found is not None
        for part in [_followed(graph, each) for each in _chunks(graph, chunk)] if found is None else [found]:
            by_distance += part.by_distance
            reaching += part.sources
            total += part.total
    return Reach(by_distance, reaching, total)


def _in_bits(graph: Arcs, sources: Indices) -> Reach | None:
    """Searches that run together, each in a bit of its own (Then and others 2014). None if they have many levels."""
    order = np.argsort(graph.heads, kind="stable")
    tails, heads = graph.tails[order], graph.heads[order]
    firsts = np.flatnonzero(np.append(True, heads[1:] != heads[:-1])) if len(heads) else heads
    heads = heads[firsts]
    new = _one_bit_each(sources, len(graph))
    unseen = ~new[heads]
    reaching, total = np.zeros(len(graph), np.int64), np.zeros(len(graph), np.int64)
    levels: list[Indices] = []
    while len(heads):
        found = np.bitwise_or.reduceat(new[tails], firsts, axis=0) & unseen
        some = np.flatnonzero(found.any(axis=1))
        if not len(some):
            break
        if len(levels) == len(sources):
            return None
        unseen ^= found
        new = np.zeros_like(new)
        new[heads] = found
        reached = np.unpackbits(found[some], axis=1, count=len(sources))
        times = reached.sum(axis=1, dtype=np.int64)
        levels.append(reached.sum(axis=0, dtype=np.int64))
        reaching[heads[some]] += times
        total[heads[some]] += len(levels) * times
    by_source = np.array(levels, np.int64).reshape(-1, len(sources)).T
    return Reach(list(by_source), reaching, total)


def _one_bit_each(sources: Indices, nodes: int) -> _Words:
    started = np.zeros((nodes, len(sources)), np.bool_)
    started[sources, np.arange(len(sources))] = True
    return np.packbits(started, axis=1)


@dataclass(frozen=True, slots=True)
class _Level:
    """The arcs of shortest paths into one level, from `tails` to `heads`: searches times nodes, flattened."""

    tails: Indices
    heads: Indices


class _Searches:
    """Searches from several sources. `distances`: by search and node, flattened; -1 where none leads."""

    def __init__(self, graph: Arcs, sources: Indices) -> None:
        self._graph, self._sources = graph, sources
        self.starts: Indices = np.arange(len(sources)) * len(graph) + sources
        self.distances = np.full(len(sources) * len(graph), -1, np.int32)
        self._last_arc = np.empty(len(self.distances), np.int64)

    def levels(self) -> Iterator[_Level]:
        """The levels, nearest first. Fills in `distances`."""
        frontier, nodes, distance = self.starts, self._sources, 0
        self.distances[frontier] = 0
        while len(frontier):
            distance += 1
            degrees, reached = self._graph.out_degrees[nodes], self._graph.heads[self._graph.arcs_from(nodes)]
            heads = np.repeat(frontier - nodes, degrees) + reached
            new = np.flatnonzero(self.distances[heads] < 0)
            tails, heads = np.repeat(frontier, degrees)[new], heads[new]
            self.distances[heads] = distance
            # Each node once: an arc that is the last one to write its number.
            numbers = np.arange(len(heads))
            self._last_arc[heads] = numbers
            last = np.flatnonzero(self._last_arc[heads] == numbers)
            frontier, nodes = heads[last], reached[new[last]]
            if len(frontier):
                yield _Level(tails, heads)


def _chunks(graph: Arcs, sources: Indices) -> Iterator[Indices]:
    size = max(1, _AT_ONCE // (len(graph) + len(graph.heads) + 1))
    for start in range(0, len(sources), size):
        yield sources[start : start + size]


def _followed(graph: Arcs, sources: Indices) -> Reach:
    """Searches that each follow their own paths."""
    searches = _Searches(graph, sources)
    for _ in searches.levels():
        pass
    distances = searches.distances.reshape(len(sources), len(graph)).clip(min=0)
    by_distance = [np.bincount(row)[1:] for row in distances]
    return Reach(by_distance, np.count_nonzero(distances, axis=0), distances.sum(axis=0, dtype=np.int64))


def dependencies(graph: Arcs, sources: Sequence[int]) -> Amounts:
    """By node, the sum over sources and nodes of the share of shortest paths that pass through it (Brandes 2001)."""
    total = np.zeros(len(graph))
    for chunk in _chunks(graph, np.array(sources, np.int64)):
        searches = _Searches(graph, chunk)
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
        total += passing.reshape(len(chunk), len(graph)).sum(axis=0)
    return total
