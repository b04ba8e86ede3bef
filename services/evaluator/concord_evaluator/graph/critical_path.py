"""Work and span of a trace: what was done, and the longest chain of it that had to be done one after the other.

Two calls follow each other if one ended before the other began by the same clock, that of whoever made both; calls by
different clocks without a causal bond are in no order. A call follows what was made in it as far as it waited for it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
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


def critical_path(calls: Sequence[Call], made_in: Sequence[Sequence[int]]) -> CriticalPath:
    """The longest chain of work; `calls` in causal order, `made_in` by call the indices of those made in it."""
    spans = [0] * len(calls)
    chains: list[list[int]] = [[] for _ in calls]
    work = 0
    for index in reversed(range(len(calls))):
        own = max(0, _duration_us(calls[index]) - _covered(made_in[index], calls))
        chains[index] = _longest_chain(made_in[index], calls, spans)
        spans[index] = own + sum(spans[each] for each in chains[index])
        work += own
    first = _longest_chain([index for index, call in enumerate(calls) if call.parent is None], calls, spans)
    return CriticalPath(
        work_us=work,
        span_us=sum(spans[index] for index in first),
        calls=frozenset(_all_within(first, chains)),
        timed=sum(call.record.latency_ms is not None for call in calls),
    )


def _duration_us(call: Call) -> int:
    return 0 if call.record.latency_ms is None else round(1000 * call.record.latency_ms)


def _interval(call: Call) -> tuple[int, int] | None:
    start = call.record.started_us
    return None if start is None or call.record.latency_ms is None else (start, start + _duration_us(call))


def _by_clock(indices: Iterable[int], calls: Sequence[Call]) -> list[list[tuple[int, int, int]]]:
    """The calls of known time as (end, start, index), sorted, by whose clock measured them."""
    clocks: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for index in indices:
        if (interval := _interval(calls[index])) is not None:
            clocks[participant_of(calls[index].caller)].append((interval[1], interval[0], index))
    return [sorted(clocks[clock]) for clock in sorted(clocks)]


def _covered(indices: Sequence[int], calls: Sequence[Call]) -> int:
    """How long any of the calls was under way (µs), by the clock on which that was longest."""
    longest = 0
    for measured in _by_clock(indices, calls):
        total, until = 0, min(start for _, start, _ in measured)
        for start, end in sorted((start, end) for end, start, _ in measured):
            total += max(0, end - max(start, until))
            until = max(until, end)
        longest = max(longest, total)
    return longest


def _longest_chain(indices: Sequence[int], calls: Sequence[Call], spans: Sequence[int]) -> list[int]:
    """The calls, one after the other, whose spans add up to most (weighted interval scheduling)."""
    chains = [[index] for index in indices if _interval(calls[index]) is None]
    chains += [_in_sequence(measured, spans) for measured in _by_clock(indices, calls)]
    return max(chains, key=lambda chain: sum(spans[index] for index in chain), default=[])


def _in_sequence(measured: Sequence[tuple[int, int, int]], spans: Sequence[int]) -> list[int]:
    ends = [end for end, _, _ in measured]
    best, before = [0], [0]
    for number, (_, start, index) in enumerate(measured):
        before.append(bisect_right(ends, start, 0, number))
        best.append(max(best[-1], spans[index] + best[before[-1]]))
    chain: list[int] = []
    number = len(measured)
    while number:
        if best[number] > best[number - 1]:
            chain.append(measured[number - 1][2])
            number = before[number]
        else:
            number -= 1
    return chain[::-1]


def _all_within(first: Iterable[int], chains: Sequence[Sequence[int]]) -> Iterable[int]:
    pending = list(first)
    while pending:
        index = pending.pop()
        yield index
        pending.extend(chains[index])
