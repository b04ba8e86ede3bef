"""What an evaluation may take: the steps that it reads, shared out among those who told them, and its time."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from concord.trace.report import ReportBatch
from concord_evaluator.trace import is_observed

MAX_NAMED: Final = 10
"""Reporters that are named in warnings, those who told most first."""

NOBODY_REFUSED: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Budget:
    """`steps`: how many reported steps are read; None: all. `time_is_up`: whether what can be left out now is."""

    steps: int | None = None
    time_is_up: Callable[[], bool] = field(default=lambda: False)


@dataclass(frozen=True, slots=True)
class Reading:
    """The batches that are read, in their order, and by account how many steps of the others were left out."""

    batches: Sequence[ReportBatch]
    left_out: Mapping[str, int]


def within(batches: Sequence[ReportBatch], steps: int | None) -> Reading:
    """The batches of a trace that a budget of steps has room for.

    What the gateway saw is always read. The rest is shared out evenly: who told less than its share leaves the rest of
    it to others, and of who told more, the first batches are read. So nobody's reports displace those of another.
    """
    told: defaultdict[str, int] = defaultdict(int)
    for batch in batches:
        if not is_observed(batch):
            told[batch.account] += _size(batch)
    if steps is None or sum(told.values()) <= steps:
        return Reading(batches, {})
    share = _fair_share(told.values(), steps)
    room = dict.fromkeys(told, share)
    left_out: Counter[str] = Counter()
    kept: list[ReportBatch] = []
    for batch in batches:
        account = batch.account
        if is_observed(batch):
            kept.append(batch)
        elif _size(batch) <= room[account]:
            room[account] -= _size(batch)
            kept.append(batch)
        else:
            room[account] = 0
            left_out[account] += batch.n_steps
    return Reading(kept, left_out)


def beyond(left_out: Mapping[str, int], refused: Mapping[str, int]) -> Iterable[str]:
    """Warnings of those whose steps were too many to be kept or read."""
    many = Counter(left_out) + Counter(refused)
    for account, steps in sorted(many.items(), key=lambda each: (-each[1], each[0]))[:MAX_NAMED]:
        yield f"{steps} steps of {account or 'reporters without a token'} were too many, and count as dropped"


def _size(batch: ReportBatch) -> int:
    """A batch takes time even without a step."""
    return max(1, batch.n_steps + batch.n_nested)


def _fair_share(told: Iterable[int], room: int) -> int:
    """The largest share such that all shares together, none larger than what was told, fit into the room."""
    ascending = sorted(told)
    for place, steps in enumerate(ascending):
        share = room // (len(ascending) - place)
        if steps > share:
            return share
        room -= steps
    return ascending[-1]
