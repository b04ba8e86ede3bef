"""Work and span of a trace: the total work of all agents, and the longest chain of work that was sequential.

Two calls are sequential if one ended before the other began by the same clock, which is the clock of the participant
that made both. Calls by different clocks without a causal bond have no order. A call waits for the calls made in it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concord_evaluator.graph.agent_graph import LONGEST_US
from concord_evaluator.trace.attribution import participant_of
from lab.columns.interactions import Call


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


def critical_path(calls: Sequence[Call], made_in: Sequence[Sequence[int]]) -> CriticalPath:
    """The longest chain of work. `calls`: in causal order; `made_in`: by call, the indices of the calls made in it."""
    times = _times(calls)
    spans = [0] * len(calls)
    chains: list[Sequence[int]] = [()] * len(calls)
    work = 0
    for index in reversed(range(len(calls))):
        own = times.duration[index]
        if inner := made_in[index]:
            by_clock = _by_clock(inner, times)
            own = max(0, own - max([_covered(known, times) for known in by_clock], default=0))
            chains[index] = _longest_chain(inner, by_clock, times, spans)
            spans[index] = own + sum([spans[each] for each in chains[index]])
        else:
            spans[index] = own
        work += own
    roots = [index for index, call in enumerate(calls) if call.parent is None]
    first = _longest_chain(roots, _by_clock(roots, times), times, spans)
    return CriticalPath(
        work_us=work,
        span_us=sum(spans[index] for index in first),
        calls=frozenset(_all_within(first, chains)),
        timed=sum([call.record.latency_ms is not None for call in calls]),
        complete=None not in times.start,
    )


def _times(calls: Sequence[Call]) -> _Times:
    took = [call.record.latency_ms for call in calls]
    starts = [None if ms is None else call.record.started_us for ms, call in zip(took, calls, strict=True)]
    durations = [0 if ms is None else min(round(1000 * ms), LONGEST_US) for ms in took]
    ends = [(start or 0) + duration for start, duration in zip(starts, durations, strict=True)]
    return _Times([participant_of(call.caller) for call in calls], starts, durations, ends)


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


def _all_within(first: Sequence[int], chains: Sequence[Sequence[int]]) -> Iterator[int]:
    pending = list(first)
    while pending:
        index = pending.pop()
        yield index
        pending.extend(chains[index])
