"""Causal order: each call after the call that it was made in. Clocks only order calls without such a bond."""

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from lab.columns.attempts import Attempt
from lab.columns.interactions import Call, Provenance
from lab.columns.trees import ROOT, parents_first


@dataclass(frozen=True, slots=True)
class Timeline:
    """`calls`: the attempts as calls, in the given order. `in_order`: the calls that count, in causal order."""

    calls: list[Call]
    in_order: tuple[Call, ...]


def causal_order(attempts: Sequence[Attempt], n_records: int, counted: Collection[Provenance]) -> Timeline:
    """Orders the attempts whose provenance is in `counted`: each after the call that it was made in.

    Calls without such a bond are sorted by their starts. A start before the parent's counts as the parent's, since the
    clocks of different machines cannot be compared; an unknown start does too. The children of an attempt that does
    not count belong to the nearest call above it that does. `n_records`: of the trace.
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
    position: list[int | None] = [None] * len(attempts)
    for index, number in enumerate(chosen):
        position[number] = index
    calls = [
        Call(
            attempt.caller,
            attempt.callee,
            attempt.record,
            attempt.provenance,
            None if parent == ROOT or not counting else position[parent],
        )
        for attempt, parent, counting in zip(attempts, nearest, counts, strict=True)
    ]
    return Timeline(calls, tuple([calls[number] for number in chosen]))


def _sorted(
    numbers: Sequence[int], start: Sequence[float], depth: Sequence[int], attempts: Sequence[Attempt]
) -> Sequence[int]:
    """The attempts by start, depth and step id. Compares texts only where start and depth are equal."""
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
    """The attempts, parents first, and by attempt the number of its parent, or `ROOT`.

    Contradictory reports may form a cycle of parents; its members lose their parents.
    """
    attempt_of_record = array("q", [ROOT]) * n_records
    """By record, the first attempt that it belongs to."""
    for number, attempt in enumerate(attempts):
        for index in (attempt.position, *attempt.others):
            if attempt_of_record[index] == ROOT:
                attempt_of_record[index] = number
    parents = array(
        "q", [ROOT if attempt.parent == ROOT else attempt_of_record[attempt.parent] for attempt in attempts]
    )
    order = parents_first(parents)
    for number in order.cyclic:
        parents[number] = ROOT
    return [*order.cyclic, *order.nodes] if order.cyclic else order.nodes, parents
