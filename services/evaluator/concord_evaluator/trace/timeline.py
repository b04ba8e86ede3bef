"""The temporal view: the calls of a trace in causal order, which no clock decides."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from concord_evaluator.trace.claims import Attempt
from concord_evaluator.trace.interactions import Call, Provenance
from concord_evaluator.trace.trees import parents_first


@dataclass(frozen=True, slots=True)
class Timeline:
    """`calls`: the attempts as calls, in the order they came in. `in_order`: those that count, in causal order."""

    calls: list[Call]
    in_order: tuple[Call, ...]


def causal_order(attempts: Sequence[Attempt], counted: Collection[Provenance]) -> Timeline:
    """The attempts with a provenance that counts, each after the call it was made in.

    Calls without such a bond stand in the order of their starts, as far as these are known and no earlier than the
    start of what they were made in: clocks of different machines are not to be trusted, an agent's own is. A call of
    unknown start counts as begun with the one it was made in. An attempt that does not count hands those made in it on
    to the call above it.
    """
    order, parents = _parents(attempts)
    counts = [attempt.provenance in counted for attempt in attempts]
    depth, start, nearest = [0] * len(attempts), [-inf] * len(attempts), list(parents)
    for number in order:
        parent, started = parents[number], attempts[number].record.started_us
        own = -inf if started is None else float(started)
        if parent is None:
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
            None if parent is None or not counting else place[parent],
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


def _parents(attempts: Sequence[Attempt]) -> tuple[Sequence[int], Sequence[int | None]]:
    """The attempts, parents first, and by attempt the one it was made in.

    Tellings that contradict each other could make a cycle, which is cut.
    """
    told_in: dict[int, int] = {}
    for number, attempt in enumerate(attempts):
        for place in attempt.places:
            told_in.setdefault(place, number)
    parents = [None if attempt.above is None else told_in.get(attempt.above) for attempt in attempts]
    order = parents_first(parents)
    if order.cyclic:
        parents = [None if number in order.cyclic else parent for number, parent in enumerate(parents)]
    return [*order.cyclic, *order.nodes] if order.cyclic else order.nodes, parents
