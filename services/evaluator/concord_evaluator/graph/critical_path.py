"""Work and span of a trace: what was done, and the longest chain of it that had to be done one after the other.

Two calls follow each other if one ended before the other began by the same clock, that of whoever made both; calls by
different clocks without a causal bond are in no order. A call follows what was made in it as far as it waited for it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from concord_evaluator.trace import Call
from concord_evaluator.trace.names import participant_of


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """`work_us`: the time in which agents were not waiting for others, all added up; `span_us`: the part of it on the
    critical path; both in microseconds. `calls`: the indices of the calls on it. `timed`: calls that say how long they
    took.
    """

    work_us: int
    span_us: int
    calls: frozenset[int]
    timed: int


@dataclass(frozen=True, slots=True)
class _Measured:
    """A call by the clock of whoever made it, in microseconds; no start: its place among others is unknown."""

    clock: str
    start: int | None
    duration: int

    @property
    def end(self) -> int:
        return (self.start or 0) + self.duration


def critical_path(calls: Sequence[Call], made_in: Sequence[Sequence[int]]) -> CriticalPath:
    """The longest chain of work; `calls` in causal order, `made_in` by call the indices of those made in it."""
    measured = [_measured(call) for call in calls]
    spans = [0] * len(calls)
    chains: list[Sequence[int]] = [()] * len(calls)
    work = 0
    for index in reversed(range(len(calls))):
        inner = made_in[index]
        own = measured[index].duration
        if inner:
            own = max(0, own - _covered(inner, measured))
            chains[index] = _longest_chain(inner, measured, spans)
        spans[index] = own + sum(spans[each] for each in chains[index])
        work += own
    first = _longest_chain([index for index, call in enumerate(calls) if call.parent is None], measured, spans)
    return CriticalPath(
        work_us=work,
        span_us=sum(spans[index] for index in first),
        calls=frozenset(_all_within(first, chains)),
        timed=sum(call.record.latency_ms is not None for call in calls),
    )


def _measured(call: Call) -> _Measured:
    clock, took = participant_of(call.caller), call.record.latency_ms
    if took is None:
        return _Measured(clock, None, 0)
    return _Measured(clock, call.record.started_us, round(1000 * took))


def _by_clock(indices: Sequence[int], measured: Sequence[_Measured]) -> list[list[int]]:
    """The calls whose place is known, by end and start, for each clock."""
    clocks: defaultdict[str, list[int]] = defaultdict(list)
    for index in indices:
        if measured[index].start is not None:
            clocks[measured[index].clock].append(index)
    for known in clocks.values():
        known.sort(key=lambda index: (measured[index].end, measured[index].start, index))
    return [clocks[clock] for clock in sorted(clocks)]


def _covered(indices: Sequence[int], measured: Sequence[_Measured]) -> int:
    """How long any of the calls was under way (µs), by the clock on which that was longest."""
    if len(indices) == 1:
        only = measured[indices[0]]
        return 0 if only.start is None else only.duration
    longest = 0
    for known in _by_clock(indices, measured):
        intervals = sorted((measured[index].start or 0, measured[index].end) for index in known)
        total, until = 0, intervals[0][0]
        for start, end in intervals:
            total += max(0, end - max(start, until))
            until = max(until, end)
        longest = max(longest, total)
    return longest


def _longest_chain(indices: Sequence[int], measured: Sequence[_Measured], spans: Sequence[int]) -> Sequence[int]:
    """The calls, one after the other, whose spans add up to most."""
    if len(indices) < 2:
        return indices
    chains = [[index] for index in indices if measured[index].start is None]
    chains += [_in_sequence(known, measured, spans) for known in _by_clock(indices, measured)]
    return max(chains, key=lambda chain: sum(spans[index] for index in chain), default=[])


def _in_sequence(known: Sequence[int], measured: Sequence[_Measured], spans: Sequence[int]) -> list[int]:
    """The same of calls by one clock, sorted by their ends (weighted interval scheduling)."""
    ends = [measured[index].end for index in known]
    best, before = [0], [0]
    for number, index in enumerate(known):
        before.append(bisect_right(ends, measured[index].start or 0, 0, number))
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
