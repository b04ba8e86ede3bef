"""Comparing teams: two on the tasks that both have run, and a ranking of many by the differences that are shown."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

from concord_evaluator.statistics.estimates import LEVEL, Interval, mean_interval

Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""A team's scores by task and puzzle: what one run of the task played."""

Verdict = Literal["insufficient", "no difference shown", "first is better", "second is better"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference (second minus first) over shared tasks, and its interval at `level`.

    `paired_trials`: the puzzles of shared tasks that both teams have played.
    """

    shared_tasks: int
    paired_trials: int
    difference: float
    interval: Interval | None
    level: float

    @property
    def verdict(self) -> Verdict:
        """The conclusion that the data supports. Too few tasks support none, however large the difference.

        There are enough tasks if all of them favour one team by chance no more often than `level` allows (sign test: 2
        / 2^n; 6 tasks for 95 %). The t interval alone would be too narrow for fewer tasks with equal differences.
        """
        if self.interval is None or 2 * 0.5**self.shared_tasks > 1 - self.level:
            return "insufficient"
        if self.interval.low <= 0 <= self.interval.high:
            return "no difference shown"
        return "second is better" if self.difference > 0 else "first is better"


def compare_paired(first: Scores, second: Scores, level: float = LEVEL) -> Comparison | None:
    """Compares scores task by task. None without a shared task.

    The difference on a task is the mean over shared puzzles, or without any, the difference of the means over all runs.
    Pairing removes the difficulty of tasks, which varies more than teams do. The interval is over tasks, not trials,
    because runs of one task resemble each other.
    """
    shared = sorted(task for task in first.keys() & second.keys() if first[task] and second[task])
    if not shared:
        return None
    puzzles = [first[task].keys() & second[task].keys() for task in shared]
    differences = [
        _mean(second[task], common or second[task]) - _mean(first[task], common or first[task])
        for task, common in zip(shared, puzzles, strict=True)
    ]
    interval = mean_interval(differences, shared, level)
    return Comparison(len(shared), sum(map(len, puzzles)), fmean(differences), interval, level)


def _mean(scores: Mapping[str, Sequence[float]], puzzles: Iterable[str]) -> float:
    """The mean over puzzles of the mean over the runs of each."""
    return fmean(fmean(scores[puzzle]) for puzzle in sorted(puzzles))


Pair = tuple[str, str]
"""The better and the worse team of a shown difference."""


class Ranks(NamedTuple):
    """The best and the worst possible rank of a team, from 1."""

    best: int
    worst: int


def ranks(teams: Sequence[str], better: Collection[Pair]) -> dict[str, Ranks]:
    """The possible ranks of each team: below all that are shown to be better, above all that are shown to be worse."""
    return {
        team: Ranks(
            1 + sum(loser == team for _, loser in better),
            len(teams) - sum(winner == team for winner, _ in better),
        )
        for team in teams
    }


def tie_groups(teams: Sequence[str], better: Collection[Pair]) -> list[list[str]]:
    """The maximal groups in which no team is shown to be better than another, in the order of the teams.

    Ties are not transitive: a may tie with b and b with c, while a is better than c. Then b is in two groups.
    """
    import networkx as nx  # an image that only shows results has none

    position = {team: number for number, team in enumerate(teams)}
    different = {frozenset(pair) for pair in better}
    tied: nx.Graph[str] = nx.Graph()
    tied.add_nodes_from(teams)
    tied.add_edges_from((one, other) for one in teams for other in teams if frozenset((one, other)) not in different)
    tied.remove_edges_from(nx.selfloop_edges(tied))
    return sorted(
        (sorted(group, key=position.__getitem__) for group in nx.find_cliques(tied)),
        key=lambda group: [position[team] for team in group],
    )
