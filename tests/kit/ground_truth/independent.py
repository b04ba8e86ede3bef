"""Expected figures of a pattern, computed by other methods than the evaluator's: exact fractions, and all shortest
paths enumerated. This module uses nothing of the evaluator and no graph library.

All calls are answered, so that a call is a message in each direction.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import sqrt

from tests.kit.ground_truth.patterns import Pattern

Distances = dict[tuple[str, str], int]

BOTTLENECK, OVER_CENTRALISED, HEALTHY_DENSITY = Fraction(1, 2), Fraction(7, 10), Fraction(3, 10)
HIGH, MEDIUM, CAP, ENOUGH_PARTNERS = 0.66, 0.33, 0.65, 4


@dataclass(frozen=True, slots=True)
class Expected:
    """The figures of a pattern; None is undefined."""

    graph_density: Fraction
    max_betweenness: Fraction
    hub_share: Fraction | None
    average_path_length: Fraction | None
    reachable_pairs: Fraction
    connected_components: int
    bottlenecks: list[str]
    over_centralised: list[str]
    isolated_agents: list[str]
    has_low_density: bool
    coordination_value: float
    coordination_quality: str


def expected_of(pattern: Pattern) -> Expected:
    """The expected figures of one pattern."""
    joined = {pair for edge in pattern.edges for pair in (edge, edge[::-1])}
    distances = _distances(pattern.agents, joined)
    between = {agent: _betweenness(agent, pattern.agents, joined, distances) for agent in pattern.agents}
    shares = _shares(pattern)
    bottlenecks = [agent for agent in sorted(pattern.agents) if between[agent] > BOTTLENECK]
    value = _coordination(pattern, distances, joined, shares)
    value = min(value, CAP) if bottlenecks else value
    ordered_pairs = len(pattern.agents) * (len(pattern.agents) - 1)
    density = Fraction(len(joined), ordered_pairs)
    return Expected(
        graph_density=density,
        max_betweenness=max(between.values()),
        hub_share=max(shares.values(), default=None),
        average_path_length=Fraction(sum(distances.values()), len(distances)) if distances else None,
        reachable_pairs=Fraction(len(distances), ordered_pairs),
        connected_components=len({frozenset(_reached(agent, distances)) for agent in pattern.agents}),
        bottlenecks=bottlenecks,
        over_centralised=[agent for agent in sorted(shares) if shares[agent] > OVER_CENTRALISED],
        isolated_agents=[agent for agent in sorted(pattern.agents) if not any(agent in pair for pair in joined)],
        has_low_density=density <= HEALTHY_DENSITY,
        coordination_value=value,
        coordination_quality="bottleneck" if bottlenecks else _label(value),
    )


def _distances(agents: tuple[str, ...], joined: set[tuple[str, str]]) -> Distances:
    """The distances of all pairs that reach each other (Floyd 1962, Warshall 1962)."""
    found: Distances = dict.fromkeys(joined, 1)
    for middle in agents:
        for start, end in permutations(agents, 2):
            if middle not in {start, end} and (start, middle) in found and (middle, end) in found:
                through = found[start, middle] + found[middle, end]
                found[start, end] = min(found.get((start, end), through), through)
    return found


def _shortest_paths(
    start: str, end: str, joined: set[tuple[str, str]], distances: Distances
) -> Iterator[tuple[str, ...]]:
    """Every shortest path from start to end."""
    if start == end:
        yield (end,)
        return
    for tail, head in joined:
        if (
            tail == start
            and distances.get((head, end), 0) == distances[start, end] - 1
            and (head == end or (head, end) in distances)
        ):
            for rest in _shortest_paths(head, end, joined, distances):
                yield (start, *rest)


def _betweenness(agent: str, agents: tuple[str, ...], joined: set[tuple[str, str]], distances: Distances) -> Fraction:
    """The mean share, over the ordered pairs of other agents, of their shortest paths that pass through the agent."""
    total, pairs = Fraction(0), 0
    for start, end in permutations([other for other in agents if other != agent], 2):
        pairs += 1
        if (start, end) in distances:
            paths = list(_shortest_paths(start, end, joined, distances))
            total += Fraction(sum(agent in path for path in paths), len(paths))
    return total / pairs


def _shares(pattern: Pattern) -> dict[str, Fraction]:
    """The share of all messages that each agent sent or received; empty without messages."""
    ends = Counter(end for edge in pattern.edges for end in edge)
    return {agent: Fraction(ends[agent], len(pattern.edges)) for agent in pattern.agents} if pattern.edges else {}


def _reached(agent: str, distances: Distances) -> set[str]:
    return {agent} | {end for start, end in distances if start == agent}


def _coordination(
    pattern: Pattern, distances: Distances, joined: set[tuple[str, str]], shares: dict[str, Fraction]
) -> float:
    """The coordination value of `docs/metrics.md` before the cap: communication * (1 + distribution) / 2."""
    others = len(pattern.agents) - 1
    integration = []
    for agent in pattern.agents:
        ways = [distance for (start, _), distance in distances.items() if start == agent]
        partners = sum(start == agent for start, _ in joined)
        contacts = min(Fraction(1), Fraction(partners, min(others, ENOUGH_PARTNERS)))
        closeness = sum((Fraction(1, way) for way in ways), Fraction(0)) / others
        integration.append(float(contacts * Fraction(len(ways), others)) * sqrt(closeness))
    communication = (sum(integration) / len(integration) + min(integration)) / 2
    even = 1 - Fraction(2, len(pattern.agents))
    distribution = min(Fraction(1), (1 - max(shares.values())) / even) if shares else Fraction(0)
    return communication * float(1 + distribution) / 2


def _label(value: float) -> str:
    return "high" if value >= HIGH else "medium" if value >= MEDIUM else "low"
