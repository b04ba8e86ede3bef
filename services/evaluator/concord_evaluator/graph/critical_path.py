"""Work and span of a trace: the total work of all agents, and the longest chain of work that was sequential.

Two calls are sequential if one ended before the other began by the same clock, which is the clock of the participant
that made both. Calls by different clocks without a causal bond have no order. A call waits for the calls made in it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from concord_evaluator.graph.chains import MadeIn
from concord_evaluator.trace import CallList
from concord_evaluator.trace.agent_ids import participant_of
from concord_evaluator.trace.columns import NEVER


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
class _Times:
    """By call, its times in microseconds, and the participant whose clock they are from. `start` is None if unknown."""

    clock: list[str]
    start: list[int | None]
    duration: list[int]
    end: list[int]


def critical_path(calls: CallList, made_in: MadeIn) -> CriticalPath:
    """The longest chain of work. `calls`: in causal order; `made_in`: the calls made in each."""
    times = _times(calls)
    spans = list(times.duration)
    chains: dict[int, Sequence[int]] = {}
    work = sum(times.duration)
    first = np.array(made_in.first, np.int64)
    for index in np.flatnonzero(first[:-1] < first[1:])[::-1].tolist():
        inner = made_in.calls[made_in.first[index] : made_in.first[index + 1]]
        by_clock = _by_clock(inner, times)
        took = times.duration[index]
        own = max(0, took - max([_covered(known, times) for known in by_clock], default=0))
        chains[index] = _longest_chain(inner, by_clock, times, spans)
        spans[index] = own + sum([spans[each] for each in chains[index]])
        work += own - took
    on_top = _longest_chain(made_in.roots, _by_clock(made_in.roots, times), times, spans)
    return CriticalPath(
        work_us=work,
        span_us=sum(spans[index] for index in on_top),
        calls=frozenset(_all_within(on_top, chains)),
        timed=int((~np.isnan(calls.steps.columns.latency_ms[calls.row])).sum()),
        complete=None not in times.start,
    )


def _times(calls: CallList) -> _Times:
    names = calls.steps.names.texts
    clocks = {code: participant_of(names[code]) for code in np.unique(calls.caller).tolist()}
    took = calls.steps.columns.latency_ms[calls.row].tolist()
    began = calls.steps.columns.started_us[calls.row].tolist()
    starts = [None if ms != ms or start == NEVER else start for ms, start in zip(took, began, strict=True)]
    durations = [0 if ms != ms else round(1000 * ms) for ms in took]
    ends = [(start or 0) + duration for start, duration in zip(starts, durations, strict=True)]
    return _Times([clocks[code] for code in calls.caller.tolist()], starts, durations, ends)


def _by_clock(indices: Sequence[int], times: _Times) -> list[Sequence[int]]:
    """By clock, the calls with a known start, sorted by end and start."""
    if len(indices) == 1:
        return [] if times.start[indices[0]] is None else [indices]
    clocks: defaultdict[str, list[int]] = defaultdict(list)
    for index in indices:
        if times.start[index] is not None:
            clocks[times.clock[index]].append(index)
    for known in clocks.values():
        known.sort(key=lambda index: (times.end[index], times.start[index], index))
    return [clocks[clock] for clock in sorted(clocks)]


def _covered(known: Sequence[int], times: _Times) -> int:
    """The time during which any of these calls by one clock was in progress (µs)."""
    if len(known) == 1:
        return times.duration[known[0]]
    intervals = sorted((times.start[index] or 0, times.end[index]) for index in known)
    total, until = 0, intervals[0][0]
    for start, end in intervals:
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def _longest_chain(
    indices: Sequence[int], by_clock: Sequence[Sequence[int]], times: _Times, spans: Sequence[int]
) -> Sequence[int]:
    """The chain of sequential calls with the largest sum of spans."""
    if len(indices) < 2:
        return indices
    chains: list[Sequence[int]] = [[index] for index in indices if times.start[index] is None]
    chains += [_in_sequence(known, times, spans) for known in by_clock]
    if len(chains) == 1:
        return chains[0]
    return max(chains, key=lambda chain: sum(spans[index] for index in chain), default=[])


def _in_sequence(known: Sequence[int], times: _Times, spans: Sequence[int]) -> list[int]:
    """The same for calls by one clock, sorted by their ends (weighted interval scheduling)."""
    ends = [times.end[index] for index in known]
    best, before = [0], [0]
    for number, index in enumerate(known):
        before.append(bisect_right(ends, times.start[index] or 0, 0, number))
        best.append(max(best[-1], spans[index] + best[before[-1]]))
    chain: list[int] = []
    number = len(known)
    while number:
        if best[number] > best[number - 1]:
            chain.append(known[number - 1])
            number = before[number]
        else:
            number -= 1
    return chain[::-1]


def _all_within(first: Sequence[int], chains: Mapping[int, Sequence[int]]) -> Iterator[int]:
    pending = list(first)
    while pending:
        index = pending.pop()
        yield index
        pending.extend(chains.get(index, ()))
