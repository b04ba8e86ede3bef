"""Topologies: the channels between the seats of a team."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import combinations, pairwise
from typing import Final

from concord.suite.draw import Draw
from concord.suite.task import Neighbours

Edge = tuple[int, int]

SHORTCUT_PROBABILITY: Final = 0.2
"""The part of a small world's ring edges that also leads elsewhere (Watts and Strogatz 1998, with added shortcuts as
in Newman and Watts 1999, which keeps the graph connected)."""

ATTACHMENTS: Final = 2
"""How many edges a new seat of a scale-free network brings (Barabasi and Albert 1999)."""


class Topology(StrEnum):
    """The named topologies. All are undirected and connected."""

    COMPLETE = "complete"
    STAR = "star"
    CHAIN = "chain"
    RING = "ring"
    TREE = "tree"
    SMALL_WORLD = "small-world"
    SCALE_FREE = "scale-free"


def neighbours_in(topology: Topology, seats: Sequence[str], draw: Draw) -> Neighbours:
    """The neighbours of each seat. `draw` decides the seats' places, and the edges where these are random."""
    places = draw.shuffled(seats)
    return neighbours_of(seats, ((places[a], places[b]) for a, b in _EDGES[topology](len(seats), draw)))


def neighbours_of(seats: Sequence[str], edges: Iterable[tuple[str, str]]) -> Neighbours:
    """The neighbours of each seat by the given edges, of which each counts in both directions.

    Raises ValueError for an edge with an unknown end, or if some seat cannot reach another.
    """
    found: dict[str, set[str]] = {seat: set() for seat in seats}
    for a, b in edges:
        if a not in found or b not in found:
            raise ValueError(f"an edge joins {a!r} and {b!r}: the seats are {', '.join(seats)}")
        if a != b:
            found[a].add(b)
            found[b].add(a)
    # In the order of the seats, and not of their names, on which nothing may depend.
    neighbours = {seat: tuple(other for other in seats if other in others) for seat, others in found.items()}
    if len(distances(neighbours, seats[0])) < len(seats):
        raise ValueError("the topology is not connected")
    return neighbours


def distances(neighbours: Neighbours, start: str) -> dict[str, int]:
    """The number of edges from `start` to each seat that can be reached, by breadth-first search."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        seat = queue.popleft()
        for other in neighbours[seat]:
            if other not in found:
                found[other] = found[seat] + 1
                queue.append(other)
    return found


def _ring(n: int) -> list[Edge]:
    return [(place, (place + 1) % n) for place in range(n)]


def _small_world(n: int, draw: Draw) -> list[Edge]:
    shortcuts = [(place, draw.below(n)) for place in range(n) if draw.chance(SHORTCUT_PROBABILITY)]
    return _ring(n) + shortcuts


def _scale_free(n: int, draw: Draw) -> list[Edge]:
    edges: list[Edge] = [(0, 1)] if n > 1 else []
    ends = [end for edge in edges for end in edge]
    for place in range(2, n):
        chosen = {draw.choice(ends) for _ in range(ATTACHMENTS)}
        edges += [(place, other) for other in sorted(chosen)]
        ends += [end for other in sorted(chosen) for end in (place, other)]
    return edges


_EDGES: Final[dict[Topology, Callable[[int, Draw], list[Edge]]]] = {
    Topology.COMPLETE: lambda n, _: list(combinations(range(n), 2)),
    Topology.STAR: lambda n, _: [(0, place) for place in range(1, n)],
    Topology.CHAIN: lambda n, _: list(pairwise(range(n))),
    Topology.RING: lambda n, _: _ring(n),
    Topology.TREE: lambda n, _: [((place - 1) // 2, place) for place in range(1, n)],
    Topology.SMALL_WORLD: _small_world,
    Topology.SCALE_FREE: _scale_free,
}
