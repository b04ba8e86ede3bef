"""Interactions and links: believed calls in causal order, and each logical call once, by caller and callee."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from typing import Final, NamedTuple, overload

import numpy as np

from concord.assessment.results import MAX_STEP_IDS
from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord_evaluator.trace.attribution import PROVENANCES, Attempts, Provenance, in_graph
from concord_evaluator.trace.columns import NEVER, NONE, Amounts, Flags, StepRecord, Steps, changes
from concord_evaluator.trace.trees import ROOT, Numbers, largest_above, nearest, ordered

# Interactions: the calls between agents, each logical call once, with its provenance.


class Call(NamedTuple):
    """One attempt to call an agent. `parent`: the index, in causal order, of the call that the attempt was made in.

    Only calls whose provenance counts are in causal order and have a parent there.
    """

    caller: str
    callee: str
    record: StepRecord
    provenance: Provenance
    parent: int | None

    @property
    def step_id(self) -> str:
        """The id by which both ends know the call."""
        return self.record.step_id


Link = tuple[str, str]
"""A caller and a callee."""

_DOUBT: Final = {provenance: rank for rank, provenance in enumerate(PROVENANCES)}


class Interaction(tuple[Call, ...]):
    """One logical call: the attempts at it, at least one, in the order of their step ids."""

    __slots__ = ()

    @property
    def caller(self) -> str:
        """The calling agent."""
        return self[0].caller

    @property
    def callee(self) -> str:
        """The called agent."""
        return self[0].callee

    @property
    def step_ids(self) -> tuple[str, ...]:
        """The step ids of the attempts, sorted."""
        return tuple(attempt.record.step_id for attempt in self)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the least trusted attempt."""
        return (
            max([attempt.provenance for attempt in self], key=_DOUBT.__getitem__)
            if len(self) > 1
            else self[0].provenance
        )

    @property
    def kind(self) -> EdgeKind:
        """How the call connects its agents."""
        return self[0].record.edge_kind

    @property
    def known_by(self) -> KnownBy | None:
        """What spans tell the call by. None for a call that was reported as one."""
        return self[0].record.known_by

    @property
    def support(self) -> Support | None:
        """What a second source in the spans says. None for a call that was reported as one."""
        return self[0].record.support

    @property
    def request_digest(self) -> str | None:
        """The digest of the request. None where unknown."""
        return self[0].record.request_digest

    @property
    def failed(self) -> bool:
        """Whether every attempt failed. A failed call has no reply."""
        return None not in [attempt.record.error for attempt in self]


class CallList(Sequence[Call]):
    """The attempts that count, in causal order, each made from the columns when it is asked for.

    `number`: of each in `attempts`; `parent`: the place of the call that it was made in, or `ROOT`.
    """

    def __init__(self, attempts: Attempts, steps: Steps, number: Numbers, parent: Numbers) -> None:
        self.attempts, self.steps, self.number, self.parent = attempts, steps, number, parent
        self.row: Numbers = attempts.row[number]
        self.caller: Numbers = attempts.caller[number]
        self.callee: Numbers = attempts.callee[number]
        self.provenance: Numbers = attempts.provenance[number]

    def __len__(self) -> int:
        return len(self.number)

    @cached_property
    def failed(self) -> Flags:
        """By attempt, whether it has an error."""
        failed: Flags = self.steps.columns.failed[self.row]
        return failed

    @cached_property
    def between_agents(self) -> Flags:
        """By attempt, whether an agent of the team called another."""
        inside = in_graph(self.caller, self.steps.names) & in_graph(self.callee, self.steps.names)
        between: Flags = inside & (self.caller != self.callee)
        return between

    @overload
    def __getitem__(self, place: int) -> Call: ...
    @overload
    def __getitem__(self, place: slice) -> list[Call]: ...
    def __getitem__(self, place: int | slice) -> Call | list[Call]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        parent = int(self.parent[place])
        return call_of(int(self.number[place]), self.attempts, self.steps, None if parent == ROOT else parent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallList) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def call_of(number: int, attempts: Attempts, steps: Steps, parent: int | None) -> Call:
    """One attempt as a call."""
    names = steps.names.texts
    caller, callee = names[attempts.caller[number]], names[attempts.callee[number]]
    provenance = PROVENANCES[attempts.provenance[number]]
    return Call(caller, callee, steps.record(int(attempts.row[number])), provenance, parent)


# Causal order: each call after the call that it was made in. Clocks only order calls without such a bond.


def causal_order(attempts: Attempts, steps: Steps, counted: Flags) -> tuple[Numbers, Numbers]:
    """The numbers of the attempts in `counted` in causal order: each after the call that it was made in. And by place
    in this order, the place of that call, or `ROOT`.

    Calls without such a bond are sorted by their starts. A start before the parent's counts as the parent's, since the
    clocks of different machines cannot be compared; an unknown start does too. The children of an attempt that does
    not count belong to the nearest call above it that does.
    """
    parents = _parents(attempts, len(steps.columns))
    started = steps.columns.started_us[attempts.row]
    start = largest_above(parents, np.where(started == NEVER, -np.inf, started.astype(np.float64)))
    order = _sorted(np.flatnonzero(counted), start, ordered(parents).depth, attempts, steps)
    place = np.full(len(attempts) + 1, ROOT, np.int64)
    place[order] = np.arange(len(order))
    return order, place[nearest(parents, counted)[order]]


def _sorted(
    numbers: Numbers,
    start: Amounts,
    depth: Numbers,
    attempts: Attempts,
    steps: Steps,
) -> Numbers:
    """The attempts by start, depth and step id. Compares texts only where start and depth are equal."""
    starts, depths = start[numbers], depth[numbers]
    order = np.lexsort((depths, starts))
    starts, depths = starts[order], depths[order]
    first = np.flatnonzero(changes(starts, depths))
    sizes = np.diff(np.append(first, len(order)))
    in_order = numbers[order]
    for begin, size in zip(first[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        in_order[begin : begin + size] = _by_id(in_order[begin : begin + size].tolist(), attempts, steps)
    return in_order


def _by_id(numbers: Sequence[int], attempts: Attempts, steps: Steps) -> list[int]:
    names, row = steps.names.texts, attempts.row

    def key(number: int) -> tuple[str, str, str, str]:
        ends = names[attempts.caller[number]], names[attempts.callee[number]]
        return steps.step_id(row[number]), *ends, steps.trace_id(row[number])

    return sorted(numbers, key=key)


def _parents(attempts: Attempts, n_rows: int) -> Numbers:
    """By attempt, the number of the one that it was made in, or `ROOT`.

    Contradictory reports may form a cycle of parents; its members lose their parents.
    """
    first = np.full(n_rows + 1, len(attempts), np.int64)
    """By row, the first attempt that it belongs to."""
    first[attempts.row[::-1]] = np.arange(len(attempts))[::-1]
    np.minimum.at(first, attempts.other_row, attempts.attempt_of_other)
    parents = first[attempts.parent]
    parents[parents == len(attempts)] = ROOT
    if (cyclic := ordered(parents).cyclic).any():
        parents[cyclic] = ROOT
    return parents


# Links: the logical calls of each agent to each other agent, as columns. A logical call has one attempt or more.


@dataclass(frozen=True)
class Links(Mapping[Link, "LinkCalls"]):
    """The calls of each caller to each callee, sorted by caller and callee.

    `numbers`: of the attempts in `attempts`, those at one call next to each other, the first one first. `calls`: where
    each call begins in `numbers`, and the end of the last. `links`: where each link begins in `calls`, and the end of
    the last. `places`: by attempt in `attempts`, its place in causal order, or `ROOT` if it does not count.
    """

    steps: Steps
    attempts: Attempts
    numbers: Numbers
    calls: Numbers
    links: Numbers
    places: Numbers

    def __len__(self) -> int:
        return len(self.links) - 1

    def __iter__(self) -> Iterator[Link]:
        return iter(self._ends)

    def __getitem__(self, link: Link) -> "LinkCalls":
        return LinkCalls(self, self._ends[link])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Links) and list(calls_on(self)) == list(calls_on(other))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _ends(self) -> Mapping[Link, int]:
        names = self.steps.names.texts
        ends = zip(self.caller.tolist(), self.callee.tolist(), strict=True)
        return {(names[caller], names[callee]): number for number, (caller, callee) in enumerate(ends)}

    @cached_property
    def row(self) -> Numbers:
        """By attempt, its row."""
        return self.attempts.row[self.numbers]

    @cached_property
    def first_row(self) -> Numbers:
        """By call, the row of its first attempt."""
        return self.row[self.calls[:-1]]

    @cached_property
    def caller(self) -> Numbers:
        """By link, the code of the caller."""
        return self.attempts.caller[self.numbers[self.calls[self.links[:-1]]]]

    @cached_property
    def callee(self) -> Numbers:
        """By link, the code of the callee."""
        return self.attempts.callee[self.numbers[self.calls[self.links[:-1]]]]

    @cached_property
    def n_calls(self) -> Numbers:
        """By link, the number of its calls."""
        return np.diff(self.links)

    @cached_property
    def link_of_call(self) -> Numbers:
        """By call, the number of its link."""
        return np.repeat(np.arange(len(self)), self.n_calls)

    @cached_property
    def link_of_attempt(self) -> Numbers:
        """By attempt, the number of its link."""
        return np.repeat(self.link_of_call, np.diff(self.calls))

    @cached_property
    def call_failed(self) -> Flags:
        """By call, whether every attempt failed. A failed call has no reply."""
        return ~np.logical_or.reduceat(~self.attempt_failed, self.calls[:-1]) if len(self) else self.attempt_failed

    @cached_property
    def attempt_failed(self) -> Flags:
        """By attempt, whether it failed."""
        return self.steps.columns.failed[self.row]

    @cached_property
    def failed(self) -> Numbers:
        """By link, the number of calls that failed."""
        return np.bincount(self.link_of_call[self.call_failed], minlength=len(self))

    @cached_property
    def retries(self) -> Numbers:
        """By link, the number of attempts that repeat another one."""
        repeats = self.steps.columns.retry_of[self.row] != NONE
        return np.bincount(self.link_of_attempt[repeats], minlength=len(self))

    @cached_property
    def edge_kind(self) -> Numbers:
        """By call, how it connects its agents: an index in `EDGE_KINDS`."""
        return self.steps.columns.edge_kind[self.first_row]

    @cached_property
    def provenance(self) -> Numbers:
        """By call, the provenance of its least trusted attempt, as an index in `PROVENANCES`."""
        trust = self.attempts.provenance[self.numbers]
        return np.maximum.reduceat(trust, self.calls[:-1]) if len(self) else trust

    @cached_property
    def requests(self) -> Numbers:
        """By call, the rank of the digest of its request, or `NONE`."""
        return self.steps.columns.request[self.first_row]

    @cached_property
    def latencies_ms(self) -> tuple[Amounts, Numbers]:
        """The known latencies of all attempts (ms), sorted within each link; and where those of each link begin."""
        latency = self.steps.columns.latency_ms[self.row]
        known = ~np.isnan(latency)
        link, latency = self.link_of_attempt[known], latency[known]
        order = np.lexsort((latency, link))
        return latency[order], np.searchsorted(link[order], np.arange(len(self) + 1))

    def first_step_ids(self, attempts: Flags) -> list[str]:
        """The first `MAX_STEP_IDS` distinct step ids of the chosen attempts, sorted."""
        chosen = np.unique(self.steps.columns.step[self.row[attempts]]).tolist()
        return nsmallest(MAX_STEP_IDS, {self.steps.step_ids[number] for number in chosen})

    def among(self, calls: Flags) -> "Links":
        """Those of the calls that are chosen, by call."""
        attempts = np.repeat(calls, np.diff(self.calls))
        sizes = np.diff(self.calls)[calls]
        per_link = np.bincount(self.link_of_call[calls], minlength=len(self))
        return Links(
            self.steps,
            self.attempts,
            self.numbers[attempts],
            _bounds(sizes),
            _bounds(per_link[per_link > 0]),
            self.places,
        )

    def interaction(self, call: int) -> Interaction:
        """One logical call."""
        numbers = self.numbers[self.calls[call] : self.calls[call + 1]].tolist()
        return Interaction(sorted((self._call(number) for number in numbers), key=lambda each: each.record.step_id))

    def _call(self, number: int) -> Call:
        parent = int(self.places[number])
        return call_of(number, self.attempts, self.steps, None if parent == ROOT else parent)


@dataclass(frozen=True)
class LinkCalls:
    """The logical calls of one agent to another, at least one: link number `number` of `links`."""

    links: Links
    number: int

    @property
    def _bounds(self) -> tuple[int, int]:
        """Where its attempts begin and end."""
        begin, end = self.links.calls[self.links.links[self.number : self.number + 2]].tolist()
        return begin, end

    @cached_property
    def calls(self) -> Sequence[Interaction]:
        """The calls, by trace and the step id of the first attempt, which may be one that nobody reported."""
        steps, rows = self.links.steps, self.links.row[slice(*self._bounds)]
        first = _first_attempts(steps.columns.step[rows].tolist(), steps.columns.retry_of[rows].tolist())

        def key(call: int) -> tuple[str, str]:
            number = first[int(steps.columns.step[self.links.first_row[call]])]
            return steps.trace_ids[steps.traces[number]], steps.step_ids[number]

        start, end = self.links.links[self.number : self.number + 2].tolist()
        return [self.links.interaction(call) for call in sorted(range(start, end), key=key)]

    @property
    def failed(self) -> int:
        """The number of calls that failed."""
        return int(self.links.failed[self.number])

    @property
    def attempts(self) -> int:
        """The number of attempts."""
        begin, end = self._bounds
        return end - begin

    @property
    def failed_attempts(self) -> int:
        """The number of attempts with an error."""
        return int(self.links.attempt_failed[slice(*self._bounds)].sum())

    @property
    def retries(self) -> int:
        """The number of attempts that repeat another one."""
        return int(self.links.retries[self.number])

    @property
    def latencies_ms(self) -> Sequence[float]:
        """The known latencies of all attempts (ms), sorted."""
        values, bounds = self.links.latencies_ms
        found: list[float] = values[bounds[self.number] : bounds[self.number + 1]].tolist()
        return found

    @property
    def requests(self) -> list[str]:
        """The digests of the requests that are known."""
        start, end = self.links.links[self.number : self.number + 2].tolist()
        ranks = self.links.requests[start:end].tolist()
        return [self.links.steps.request_digest(rank) for rank in ranks if rank != NONE]


def calls_on(links: Links) -> Iterator[Interaction]:
    """All calls, sorted by caller and callee."""
    return chain.from_iterable(link.calls for link in links.values())


def join_attempts(attempts: Attempts, steps: Steps, parents: Numbers) -> Links:
    """Joins attempts into logical calls. `parents`: by attempt, the place in causal order of the call above it.

    A retry names the attempt that it repeats (`retry_of`) and has the same caller and callee. Both are attempts at one
    call.
    """
    link = np.cumsum(changes(attempts.caller, attempts.callee)) - 1
    first, nth = np.arange(len(attempts)), np.zeros(len(attempts), np.int64)
    for call in _repeated(attempts, link, steps):
        first[call], nth[call] = min(call), range(len(call))
    numbers = np.lexsort((nth, first))
    begins = changes(first[numbers])
    calls = np.append(np.flatnonzero(begins), len(attempts))
    return Links(steps, attempts, numbers, calls, _bounds(np.bincount(link[numbers[begins]])), parents)


def _bounds(sizes: Numbers) -> Numbers:
    return np.append(0, np.cumsum(sizes))


def _repeated(attempts: Attempts, link: Numbers, steps: Steps) -> Iterator[list[int]]:
    """The attempts at each call that has several, by their step ids. `link`: by attempt."""
    step, retry_of = steps.columns.step[attempts.row], steps.columns.retry_of[attempts.row]
    involved = (retry_of != NONE) | np.isin(step, retry_of[retry_of != NONE])
    by_link: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for number in np.flatnonzero(involved).tolist():
        by_link[int(link[number])][int(step[number])] = number
    for made in by_link.values():
        first = _first_attempts([*made], retry_of[[*made.values()]].tolist())
        calls: defaultdict[int, list[int]] = defaultdict(list)
        for each in sorted(made, key=steps.step_ids.__getitem__):
            calls[first[each]].append(made[each])
        yield from (call for call in calls.values() if len(call) > 1)


def _first_attempts(steps: Sequence[int], retry_of: Sequence[int]) -> dict[int, int]:
    """By step, the first attempt of its call, which nobody may have reported: numbers of steps.

    `retry_of`: the attempt that each step repeats, or `NONE`.
    """
    repeats, first = dict(zip(steps, retry_of, strict=True)), dict[int, int]()
    for step in steps:
        chain: dict[int, None] = {}
        current = step
        while current not in first and current not in chain:
            chain[current] = None
            if (repeated := repeats.get(current, NONE)) != NONE:
                current = repeated
        first.update(dict.fromkeys(chain, first.get(current, current)))
    return first
