"""The budget of an evaluation: how many steps it reads, shared fairly among reporters, and how long it may take."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from concord.trace.report import ReportBatch

MAX_NAMED: Final = 10
"""Reporters that warnings name, those with most steps first."""

NONE_REFUSED: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Budget:
    """`steps`: how many reported steps are read (None: all). `time_is_up`: whether to skip all optional work."""

    steps: int | None = None
    time_is_up: Callable[[], bool] = field(default=lambda: False)


@dataclass(frozen=True, slots=True)
class Selection:
    """The batches to read, in their order, and by account the number of steps in the omitted batches."""

    batches: Sequence[ReportBatch]
    omitted: Mapping[str, int]


def select_batches(batches: Sequence[ReportBatch], steps: int | None) -> Selection:
    """Selects the batches of a trace that fit into a budget of steps.

    The gateway's batches are always included. All other accounts get equal shares; what an account does not use goes
    to the others. Of an account with more than its share, the first batches are included. So no account's reports
    displace those of another.
    """
    sizes: defaultdict[str, int] = defaultdict(int)
    for batch in batches:
        if not batch.is_observed:
            sizes[batch.account] += _size(batch)
    if steps is None or sum(sizes.values()) <= steps:
        return Selection(batches, {})
    share = _fair_share(sizes.values(), steps)
    room = dict.fromkeys(sizes, share)
    omitted: Counter[str] = Counter()
    kept: list[ReportBatch] = []
    for batch in batches:
        account = batch.account
        if batch.is_observed:
            kept.append(batch)
        elif _size(batch) <= room[account]:
            room[account] -= _size(batch)
            kept.append(batch)
        else:
            room[account] = 0
            omitted[account] += batch.n_steps
    return Selection(kept, omitted)


def excess_warnings(omitted: Mapping[str, int], refused: Mapping[str, int]) -> Iterable[str]:
    """A warning for each account whose steps exceeded what is stored or read, the largest excess first."""
    excess = Counter(omitted) + Counter(refused)
    for account, steps in sorted(excess.items(), key=lambda each: (-each[1], each[0]))[:MAX_NAMED]:
        yield f"{steps} steps of {account or 'reporters without a token'} exceeded the limit and count as dropped"


def _size(batch: ReportBatch) -> int:
    """The steps of a batch, at least 1: reading an empty batch takes time as well."""
    return max(1, batch.n_steps + batch.n_nested)


def _fair_share(sizes: Iterable[int], total: int) -> int:
    """The largest share so that the sum of `min(size, share)` over all sizes is at most `total`."""
    ascending = sorted(sizes)
    for index, steps in enumerate(ascending):
        share = total // (len(ascending) - index)
        if steps > share:
            return share
        total -= steps
    return ascending[-1]
