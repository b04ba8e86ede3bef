"""Work and span of a trace: the total work of all agents, and the longest chain of work that was sequential.

Two calls are sequential if one ended before the other began by the same clock, which is the clock of the participant
that made both. Calls by different clocks without a causal bond have no order. A call waits for the calls made in it.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from concord_evaluator.trace import CallList
from concord_evaluator.trace.attribution import participant_of
from concord_evaluator.trace.columns import NEVER, ROOT, Flags, Numbers, below_any, changes, viewed

LONGEST_US: Final = 2**61
"""The duration that a longer one counts as (73,000 years), so that every end is a number of 64 bits."""


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """`work_us`: the total time in which agents did not wait for others; `span_us`: the part of it on the critical
    path; both in microseconds. `calls`: the indices of the calls on the path. `timed`: the number of calls with a known
    duration. `complete`: whether all calls have a known start and duration.
    """

    work_us: int
    span_us: int
    calls: frozenset[int]
    timed: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _Groups:
    """The calls that were made in one call by one clock, with known starts.

    `calls`: of all groups, sorted by the call that they were made in, clock, end and start; `before`: of each, how many
    calls of its group ended before it began. `first`: where each group begins in `calls`, and the end of the last;
    `parent`: by group, the call that they were made in; `covered`: the time in which any of them was in progress (µs).
    """

    calls: Numbers
    before: Numbers
    first: Numbers
    parent: Numbers
    covered: Numbers


def critical_path(calls: CallList) -> CriticalPath:
    """The longest chain of work. `calls`: in causal order."""
    start, known = calls.steps.columns.started_us[calls.row], calls.steps.columns.latency_ms[calls.row]
    measured = ~np.isnan(known)
    duration = np.minimum(np.rint(1000 * np.where(measured, known, 0)), LONGEST_US).astype(np.int64)
    timed = measured & (start != NEVER)
    groups = _groups(calls, timed, start, start + duration)
    covered = np.zeros(len(calls) + 1, np.int64)
    np.maximum.at(covered, groups.parent, groups.covered)
    own = np.maximum(duration - covered[:-1], 0)
    span, chosen = _longest_chains(calls.parent, groups, np.flatnonzero(~timed), own)
    on_path = chosen & ~below_any(calls.parent, ~chosen)
    return CriticalPath(
        work_us=sum(viewed(own)),
        span_us=span,
        calls=frozenset(np.flatnonzero(on_path).tolist()),
        timed=int(measured.sum()),
        complete=bool(timed.all()),
    )


def _groups(calls: CallList, timed: Flags, start: Numbers, end: Numbers) -> _Groups:
    names = calls.steps.names.texts
    callers, caller = np.unique(calls.caller, return_inverse=True)
    clocks = [participant_of(names[code]) for code in callers.tolist()]
    ranks = {clock: rank for rank, clock in enumerate(sorted(set(clocks)))}
    clock = np.array([ranks[each] for each in clocks], np.int64)[caller]
    made = np.flatnonzero(timed)
    made = made[np.lexsort((start[made], end[made], clock[made], calls.parent[made]))]
    new = changes(calls.parent[made], clock[made])
    first, group = np.flatnonzero(new), np.cumsum(new) - 1
    return _Groups(
        made,
        _ended_before(group, first, start[made], end[made]),
        np.append(first, len(made)),
        calls.parent[made[first]],
        _covered(group, first, start[made], end[made]),
    )


def _ended_before(group: Numbers, first: Numbers, start: Numbers, end: Numbers) -> Numbers:
    """By call, how many calls before it in its group ended when it began, or earlier. Sorted by group and end."""
    size = len(group)
    begins = np.repeat((False, True), size)
    order = np.lexsort((begins, np.append(end, start), np.append(group, group)))
    ended = np.empty(2 * size, np.int64)
    ended[order] = np.cumsum(~begins[order])
    return np.minimum(ended[size:], np.arange(size)) - first[group]


def _covered(group: Numbers, first: Numbers, start: Numbers, end: Numbers) -> Numbers:
    """By group, the time in which any of its calls was in progress (µs). Sorted by group and end."""
    place = np.lexsort((end, start, group))
    latest = np.maximum.accumulate(place)  # ends are sorted, so that the last place has the latest end
    until = start[place]
    until[1:] = np.where(group[1:] == group[:-1], np.maximum(end[latest[:-1]], until[1:]), until[1:])
    added = np.maximum(end[place] - until, 0)
    return np.add.reduceat(added, first) if len(first) else added


def _longest_chains(parents: Numbers, groups: _Groups, untimed: Numbers, own: Numbers) -> tuple[int, Flags]:
    """The span of the whole trace (µs), and by call whether it is in the chain of sequential calls with the largest sum
    of spans among the calls that were made in the same call.

    `untimed`: the calls without a known start, which are in no order with others. `own`: by call, its own work.
    """
    small = own.sum(dtype=np.float64) < 2**62  # then every sum is a number of 64 bits, since no chain is the larger
    spans = array("q", np.append(own, 0).tobytes()) if small else [*own.tolist(), 0]
    chosen = np.zeros(len(parents), np.bool_)
    of_untimed = np.argsort(parents[untimed], kind="stable")
    untimed = untimed[of_untimed]
    outer, n_calls = np.unique(parents, return_counts=True)
    bounds = [
        np.searchsorted(each, outer, side) for each in (groups.parent, parents[untimed]) for side in ("left", "right")
    ]
    calls, before, first, alone = map(viewed, (groups.calls, groups.before, groups.first, untimed))
    waited: list[int] = []
    inner_first = [viewed(each[::-1].copy()) for each in (outer, n_calls, *bounds)]
    for parent, n, group, last_group, loose, last_loose in zip(*inner_first, strict=True):
        longest, chain = -1, list[int]()
        for place in range(loose, last_loose):
            if (span := spans[alone[place]]) > longest:
                longest, chain = span, [alone[place]]
        for number in range(group, last_group):
            begin, end = first[number], first[number + 1]
            best = _best(calls[begin:end], before[begin:end], spans)
            if best[-1] > longest:
                longest, chain = best[-1], _chain(calls[begin:end], before[begin:end], best)
        spans[parent] += longest
        waited += chain if chain or n > 1 else [calls[first[group]]]
    chosen[waited] = True
    return spans[ROOT], chosen


def _best(calls: Sequence[int], before: Sequence[int], spans: Sequence[int]) -> Sequence[int]:
    """By number of calls of a group, the largest sum of spans of a chain among the first so many of them (weighted
    interval scheduling)."""
    longest = 0
    best = [longest]
    for call, n_before in zip(calls, before, strict=True):
        through = spans[call] + best[n_before]
        if through > longest:
            longest = through
        best.append(longest)
    return best


def _chain(calls: Sequence[int], before: Sequence[int], best: Sequence[int]) -> list[int]:
    """The calls of the best chain, the last one first."""
    chain: list[int] = []
    number = len(calls)
    while number:
        if best[number] > best[number - 1]:
            chain.append(calls[number - 1])
            number = before[number - 1]
        else:
            number -= 1
    return chain
