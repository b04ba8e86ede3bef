"""Comparing two teams on the tasks that both worked on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from concord_evaluator.statistics.intervals import Interval, mean_interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference (second minus first) over shared tasks, and its interval; `differs` if that excludes 0."""

    shared_tasks: int
    difference: float
    interval: Interval | None

    @property
    def differs(self) -> bool:
        """Whether the data tells the two apart; without an interval it does not."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


def compare_paired(first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]) -> Comparison | None:
    """Compares scores by task, each task's runs averaged first; None without a shared task.

    Pairing takes out how hard the tasks are, which differs more than teams do.
    """
    shared = sorted(task for task in first.keys() & second.keys() if first[task] and second[task])
    if not shared:
        return None
    differences = [fmean(second[task]) - fmean(first[task]) for task in shared]
    return Comparison(len(shared), fmean(differences), mean_interval(differences, shared))
