"""Teams by shape: names of agents, and pairs of caller and callee."""

from itertools import combinations, pairwise, permutations

from concord_evaluator.graph import AgentGraph, build_graph
from tests.kit.traces import call, projected, reported_by

Team = tuple[list[str], list[tuple[str, str]]]


def agents(n: int, prefix: str = "a") -> list[str]:
    return [f"{prefix}{number:02}" for number in range(n)]


def star(n: int) -> Team:
    hub, *spokes = agents(n)
    return [hub, *spokes], [(hub, spoke) for spoke in spokes]


def chain(n: int) -> Team:
    names = agents(n)
    return names, list(pairwise(names))


def ring(n: int) -> Team:
    names = agents(n)
    return names, list(zip(names, [*names[1:], names[0]], strict=True))


def mesh(n: int) -> Team:
    names = agents(n)
    return names, list(permutations(names, 2))


def complete_dag(n: int) -> Team:
    names = agents(n)
    return names, list(combinations(names, 2))


def disjoint_pairs(n: int, pairs: int) -> Team:
    names = agents(n)
    return names, [(names[2 * pair], names[2 * pair + 1]) for pair in range(pairs)]


def with_isolated(team: Team, n: int = 1) -> Team:
    names, calls = team
    return [*names, *agents(n, "isolated")], calls


def partial_mesh() -> Team:
    """Five agents in a ring with two chords: seven of ten possible pairs."""
    names, calls = ring(5)
    return names, [*calls, (names[0], names[2]), (names[1], names[3])]


def side_by_side(*teams: Team) -> Team:
    """Several teams without calls between them, as one team."""
    names = [f"{name}-{i}" for i, (members, _) in enumerate(teams) for name in members]
    return names, [(f"{a}-{i}", f"{b}-{i}") for i, (_, calls) in enumerate(teams) for a, b in calls]


def graph_of(team: Team, *, failing: bool = False) -> AgentGraph:
    """The agent graph of a team in which every pair is one call."""
    names, calls = team
    error = "no answer" if failing else None
    reports = [reported_by(a, call(f"{number:03}", b, error=error)) for number, (a, b) in enumerate(calls)]
    return build_graph(projected(*reports, agents=names))
