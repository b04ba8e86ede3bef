"""Comparing teams: two on the tasks that both worked on, and many ranked no finer than the data tells them apart."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

import networkx as nx

from concord_evaluator.statistics.estimates import LEVEL, Interval, mean_interval

Scores = Mapping[str, Mapping[int, Sequence[float]]]
"""A team's scores by task and seed."""

Verdict = Literal["insufficient", "no difference shown", "first is better", "second is better"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference (second minus first) over shared tasks, and its interval at `level`.

    `paired_trials`: seeds of shared tasks that both worked with.
    """

    shared_tasks: int
    paired_trials: int
    difference: float
    interval: Interval | None
    level: float

    @property
    def verdict(self) -> Verdict:
        """What the data shows. Without enough tasks it shows nothing, however far the two are apart.

        Enough: as many as it takes for all of them to point one way by chance no more often than `level` allows (the
        sign test: 2 / 2^n; 6 tasks for 95 %). Fewer may agree to the digit, and the interval of t would believe them.
        """
        if self.interval is None or 2 * 0.5**self.shared_tasks > 1 - self.level:
            return "insufficient"
        if self.interval.low <= 0 <= self.interval.high:
            return "no difference shown"
        return "second is better" if self.difference > 0 else "first is better"


def compare_paired(first: Scores, second: Scores, level: float = LEVEL) -> Comparison | None:
    """Compares scores task by task; None without a shared task.

    A task's difference is the mean over the seeds that both worked with, else that of the means of all runs. Pairing
    takes out how hard tasks are, which differs more than teams do. Tasks count, not trials: runs of one task are alike.
    """
    shared = sorted(task for task in first.keys() & second.keys() if first[task] and second[task])
    if not shared:
        return None
    seeds = [first[task].keys() & second[task].keys() for task in shared]
    differences = [
        _mean(second[task], common or second[task]) - _mean(first[task], common or first[task])
        for task, common in zip(shared, seeds, strict=True)
    ]
    interval = mean_interval(differences, shared, level)
    return Comparison(len(shared), sum(map(len, seeds)), fmean(differences), interval, level)


def _mean(scores: Mapping[int, Sequence[float]], seeds: Iterable[int]) -> float:
    """The mean over seeds, the runs of each averaged first."""
    return fmean(fmean(scores[seed]) for seed in sorted(seeds))


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
