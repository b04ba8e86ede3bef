"""pass^k: how likely a task is to be passed k times in a row."""

from collections.abc import Sequence
from math import comb
from statistics import fmean


def pass_power(passes_by_task: Sequence[Sequence[bool]], k: int) -> float | None:
    """The mean over tasks of the chance that k of its runs, drawn at random, all passed; None if no task has k runs.

    pass^k = mean of C(c, k) / C(n, k) for c passes in n runs, which is unbiased. Tasks with fewer than k runs are left
    out. Source: S. Yao et al., tau-bench, arXiv 2406.12045.
    """
    chances = [comb(sum(runs), k) / comb(len(runs), k) for runs in passes_by_task if len(runs) >= k]
    return fmean(chances) if chances else None
