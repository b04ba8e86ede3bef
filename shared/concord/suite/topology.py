"""Topologies: the channels between the seats of a team, and what a task costs on them at least."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations, pairwise
from typing import Final

from concord.suite.draw import Draw
from concord.suite.task import Bound, Neighbours, SuiteTask

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


# The fewest calls that a task can be solved with. A call carries facts both ways: in its request and in its answer.


def fewest_calls(task: SuiteTask) -> Bound:
    """The fewest calls after which each part's seat can know what the part follows from.

    A fact that one seat alone holds comes to another over seats that calls join, and k calls join at most k + 1 seats.
    """
    holders = {fact.id: fact.holders for fact in task.facts}
    away = [(part.seat, holders[need]) for part in task.parts for need in part.needs if part.seat not in holders[need]]
    single = {(seat, held[0]) for seat, held in away if len(held) == 1}
    joined = _components(single)
    value = sum(len(each) - 1 for each in joined)
    others = [(seat, held) for seat, held in away if len(held) > 1]
    shared = any(not any(seat in each and not each.isdisjoint(held) for each in joined) for seat, held in others)
    receivers = {seat for seat, _ in away}
    proof = "calls must join each seat with all that alone hold what it needs"
    if len(receivers) == 1:
        senders = {holder for _, holder in single}
        if value == len(task.seats) - 1:
            return Bound(value, True, f"{proof}; one call along each edge of a tree is enough")
        [answerer] = receivers
        if senders <= set(task.neighbours[answerer]) and not shared:
            return Bound(value, True, f"{proof}, and all are the answerer's neighbours")
    elif value == len(task.seats) - 1 and _has_path(task):
        proof = f"{proof}; along a path through all seats, each calls the next before it answers, which is enough"
        return Bound(value, True, proof)
    return Bound(value, False, proof)


def _components(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The seats that pairs join, directly or over others."""
    found: list[set[str]] = []
    for pair in sorted(pairs):
        touched = [each for each in found if not each.isdisjoint(pair)]
        found = [each for each in found if each.isdisjoint(pair)] + [set(pair).union(*touched)]
    return found


def _has_path(task: SuiteTask) -> bool:
    """Whether a path through all seats is certain: all are neighbours, or the seats make a chain or a ring."""
    counts = {len(others) for others in task.neighbours.values()}
    return counts == {len(task.seats) - 1} or max(counts) <= 2


# What a simple team sends: every seat tells its neighbours all that it learns, and knows nobody else.


def flooding_messages(task: SuiteTask) -> int:
    """The messages of a flooding team in rounds, until every part's seat knows what the part follows from.

    In each round, a seat tells each neighbour all facts that it knows and that neither has told the other yet.
    """
    return _flooded(task, both_ways=False)


def flooding_calls(task: SuiteTask) -> int:
    """The calls of a flooding team. A call carries facts both ways, so a pair of seats needs one for its news."""
    return _flooded(task, both_ways=True)


def _flooded(task: SuiteTask, *, both_ways: bool) -> int:
    known = {seat: {fact.id for fact in task.facts if seat in fact.holders} for seat in task.seats}
    shared: dict[frozenset[str], set[str]] = {
        frozenset((seat, other)): set() for seat, others in task.neighbours.items() for other in others
    }
    sent = 0
    while not _complete(task, known):
        news = {
            (seat, other): known[seat] - shared[frozenset((seat, other))]
            for seat, others in task.neighbours.items()
            for other in others
        }
        told = {pair: facts for pair, facts in news.items() if facts}
        sent += len({frozenset(pair) for pair in told}) if both_ways else len(told)
        for (seat, other), facts in told.items():
            known[other] |= facts
            shared[frozenset((seat, other))] |= facts
    return sent


def _complete(task: SuiteTask, known: Mapping[str, set[str]]) -> bool:
    return all(known[part.seat].issuperset(part.needs) for part in task.parts)
