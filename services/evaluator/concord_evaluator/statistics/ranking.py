"""Ranking teams no finer than the data tells them apart."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import networkx as nx

Pair = tuple[str, str]
"""Who was shown to be better than whom."""


class Ranks(NamedTuple):
    """The best and the worst rank that a team may have, from 1."""

    best: int
    worst: int


def ranks(teams: Sequence[str], better: Collection[Pair]) -> dict[str, Ranks]:
    """Each team's possible ranks: below all that were shown to be better, above all that were shown to be worse."""
    return {
        team: Ranks(
            1 + sum(loser == team for _, loser in better),
            len(teams) - sum(winner == team for winner, _ in better),
        )
        for team in teams
    }


def tie_groups(teams: Sequence[str], better: Collection[Pair]) -> list[list[str]]:
    """The largest groups in which no team was shown to be better than another, in the order of the teams.

    Ties do not carry over: a may tie with b and b with c, while a is better than c. Then b is in two groups.
    """
    place = {team: number for number, team in enumerate(teams)}
    told = {frozenset(pair) for pair in better}
    tied: nx.Graph[str] = nx.Graph()
    tied.add_nodes_from(teams)
    tied.add_edges_from((one, other) for one in teams for other in teams if frozenset((one, other)) not in told)
    tied.remove_edges_from(nx.selfloop_edges(tied))
    return sorted(
        (sorted(group, key=place.__getitem__) for group in nx.find_cliques(tied)),
        key=lambda group: [place[team] for team in group],
    )
