"""The patterns: their calls, and the kind of coordination that each is meant to show."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import Final, Literal

Kind = Literal["high_coordination", "medium_coordination", "low_coordination", "bottleneck", "partial_isolation"]
Edge = tuple[str, str]

NAMES: Final = (
    "planner",
    "researcher",
    "writer",
    "reviewer",
    "coder",
    "tester",
    "critic",
    "analyst",
    "editor",
    "designer",
    "librarian",
    "translator",
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A team and its calls, in order."""

    id: str
    kind: Kind
    description: str
    agents: tuple[str, ...]
    edges: tuple[Edge, ...]


def team(size: int, start: int = 0) -> tuple[str, ...]:
    return NAMES[start : start + size]


def mesh(agents: Iterable[str]) -> list[Edge]:
    return list(permutations(agents, 2))


def star(hub: str, spokes: Iterable[str]) -> list[Edge]:
    return [(hub, spoke) for spoke in spokes]


def ring(agents: tuple[str, ...], step: int = 1) -> list[Edge]:
    return [(agent, agents[(place + step) % len(agents)]) for place, agent in enumerate(agents)]


def _high() -> Iterator[tuple[str, str, tuple[str, ...], list[Edge]]]:
    yield "mesh-3", "Three agents, each of whom calls both others.", team(3), mesh(team(3))
    yield "mesh-5", "Five agents, each of whom calls all others.", team(5), mesh(team(5))
    yield "mesh-12", "Twelve agents, each of whom calls all others.", team(12), mesh(team(12))
    yield "briefing-4", "Everyone calls all who come later, and is answered.", team(4), list(combinations(team(4), 2))
    yield (
        "circle-of-fours-8",
        "Eight in a circle, each with the two nearest on both sides.",
        team(8),
        ring(team(8)) + ring(team(8), 2),
    )


def _medium() -> Iterator[tuple[str, str, tuple[str, ...], list[Edge]]]:
    yield "ring-4", "Four agents that pass on to the next, in a ring.", team(4), ring(team(4))
    yield "ring-6", "Six agents in a ring.", team(6), ring(team(6))
    chords = [(NAMES[0], NAMES[2]), (NAMES[1], NAMES[3])]
    yield "ring-with-chords-5", "A ring of five with two short cuts.", team(5), ring(team(5)) + chords
    often = star(NAMES[0], team(3, 1)) * 16
    yield (
        "uneven-mesh-4",
        "Everyone talks with everyone, yet most of it goes through one.",
        team(4),
        mesh(team(4)) + often,
    )


def _low() -> Iterator[tuple[str, str, tuple[str, ...], list[Edge]]]:
    yield "silence-4", "Four agents that never speak.", team(4), []
    pairs = [(NAMES[0], NAMES[1]), (NAMES[2], NAMES[3]), (NAMES[4], NAMES[5])]
    yield "pairs-4", "Two pairs that know nothing of each other.", team(4), pairs[:2]
    yield "pairs-6", "Three pairs that know nothing of each other.", team(6), pairs
    halves = mesh(team(3)) + mesh(team(3, 3))
    yield "halves-6", "Two groups of three, each a mesh, with nothing between them.", team(6), halves
    thirds = [edge for start in (0, 3, 6) for edge in mesh(team(3, start))]
    yield "thirds-9", "Three groups of three with nothing between them.", team(9), thirds


def _bottleneck() -> Iterator[tuple[str, str, tuple[str, ...], list[Edge]]]:
    yield "star-4", "A hub that calls three others, who never call each other.", team(4), star(NAMES[0], team(3, 1))
    yield "star-12", "A hub that calls eleven others.", team(12), star(NAMES[0], team(11, 1))
    yield "chain-5", "Five agents that each pass on to the next.", team(5), list(pairwise(team(5)))
    left, right = team(4), (NAMES[3], *team(3, 4))
    yield "bridge-7", "Two meshes of four with one agent in both.", team(7), mesh(left) + mesh(right)
    yield (
        "star-with-isolated-6",
        "A hub with four others, and one whom nobody calls.",
        team(6),
        star(NAMES[0], team(4, 1)),
    )


def _partial_isolation() -> Iterator[tuple[str, str, tuple[str, ...], list[Edge]]]:
    yield "mesh-3-and-1", "Three who all talk, and one who does not.", team(4), mesh(team(3))
    yield "mesh-5-and-1", "Five who all talk, and one who does not.", team(6), mesh(team(5))
    yield "mesh-4-and-2", "Four who all talk, and two who do not.", team(6), mesh(team(4))
    yield "ring-5-and-1", "A ring of five, and one apart.", team(6), ring(team(5))
    yield "mesh-9-and-3", "Nine who all talk, and three who do not.", team(12), mesh(team(9))


_FAMILIES: Final[tuple[tuple[Kind, Iterator[tuple[str, str, tuple[str, ...], list[Edge]]]], ...]] = (
    ("high_coordination", _high()),
    ("medium_coordination", _medium()),
    ("low_coordination", _low()),
    ("bottleneck", _bottleneck()),
    ("partial_isolation", _partial_isolation()),
)

PATTERNS: Final = tuple(
    Pattern(name, kind, description, agents, tuple(edges))
    for kind, found in _FAMILIES
    for name, description, agents, edges in found
)
