"""The temporal view: the calls of a trace in causal order, which no clock decides."""

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from concord_evaluator.trace.claims import Attempt
from concord_evaluator.trace.interactions import Call, Provenance
from concord_evaluator.trace.trees import ROOT, parents_first


@dataclass(frozen=True, slots=True)
class Timeline:
    """`calls`: the attempts as calls, in the order they came in. `in_order`: those that count, in causal order."""

    calls: list[Call]
    in_order: tuple[Call, ...]


def causal_order(attempts: Sequence[Attempt], n_records: int, counted: Collection[Provenance]) -> Timeline:
    """The attempts, told of by any of `n_records`, with a provenance that counts, each after the call it was made in.

    Calls without such a bond stand in the order of their starts, as far as these are known and no earlier than the
    start of what they were made in: clocks of different machines are not to be trusted, an agent's own is. A call of
    unknown start counts as begun with the one it was made in. An attempt that does not count hands those made in it on
    to the call above it.
    """
    order, parents = _parents(attempts, n_records)
    counts = [attempt.provenance in counted for attempt in attempts]
    depth, start, nearest = array("q", [0]) * len(attempts), array("d", [-inf]) * len(attempts), parents[:]
    for number in order:
        parent, started = parents[number], attempts[number].record.started_us
        own = -inf if started is None else float(started)
        if parent == ROOT:
            start[number] = own
            continue
        start[number] = max(own, start[parent])
        depth[number] = depth[parent] + 1
        if not counts[parent]:
            nearest[number] = nearest[parent]
    chosen = _sorted([number for number, counting in enumerate(counts) if counting], start, depth, attempts)
    place: list[int | None] = [None] * len(attempts)
    for index, number in enumerate(chosen):
        place[number] = index
    calls = [
        Call(
            attempt.caller,
            attempt.callee,
            attempt.record,
            attempt.provenance,
            None if parent == ROOT or not counting else place[parent],
        )
        for attempt, parent, counting in zip(attempts, nearest, counts, strict=True)
    ]
    return Timeline(calls, tuple([calls[number] for number in chosen]))


def _sorted(
    numbers: Sequence[int], start: Sequence[float], depth: Sequence[int], attempts: Sequence[Attempt]
) -> Sequence[int]:
    """The attempts by start, depth and step id; few agree in the first two, so that few texts are compared."""
    chosen = np.asarray(numbers, dtype=np.intp)
    starts, depths = np.asarray(start)[chosen], np.asarray(depth)[chosen]
    order = np.lexsort((depths, starts))
    starts, depths = starts[order], depths[order]
    new = np.flatnonzero((starts[1:] != starts[:-1]) | (depths[1:] != depths[:-1])) + 1
    ordered: list[int] = chosen[order].tolist()
    bounds = [0, *new.tolist(), len(ordered)]
    for first, end in pairwise(bounds):
        if end - first > 1:
            ordered[first:end] = sorted(ordered[first:end], key=lambda number: attempts[number].record.step_id)
    return ordered


def _parents(attempts: Sequence[Attempt], n_records: int) -> tuple[Sequence[int], "array[int]"]:
    """The attempts, parents first, and by attempt the one it was made in, or `ROOT`.

    Tellings that contradict each other could make a cycle, which is cut.
    """
    told_in = array("q", [ROOT]) * n_records
    """By record, the first attempt that it tells of."""
    for number, attempt in enumerate(attempts):
        for place in (attempt.place, *attempt.others):
            if told_in[place] == ROOT:
                told_in[place] = number
    parents = array("q", [ROOT if attempt.above == ROOT else told_in[attempt.above] for attempt in attempts])
    order = parents_first(parents)
    for number in order.cyclic:
        parents[number] = ROOT
    return [*order.cyclic, *order.nodes] if order.cyclic else order.nodes, parents
