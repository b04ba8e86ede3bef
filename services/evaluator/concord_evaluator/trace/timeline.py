"""The temporal view: the calls of a trace in causal order, which no clock decides."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf

from concord_evaluator.trace.claims import Attempt
from concord_evaluator.trace.interactions import Call, Provenance
from concord_evaluator.trace.trees import on_cycles, parents_first


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
    parents = _parents(attempts)
    counts = [attempt.provenance in counted for attempt in attempts]
    depth, start, nearest = [0] * len(attempts), [-inf] * len(attempts), list(parents)
    for number in parents_first(parents):
        parent, started = parents[number], attempts[number].record.started_us
        own = -inf if started is None else float(started)
        start[number] = own if parent is None else max(own, start[parent])
        depth[number] = 0 if parent is None else depth[parent] + 1
        if parent is not None and not counts[parent]:
            nearest[number] = nearest[parent]
    chosen = [number for number, counting in enumerate(counts) if counting]
    chosen.sort(key=lambda number: attempts[number].record.step_id)
    chosen.sort(key=depth.__getitem__)
    chosen.sort(key=start.__getitem__)
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
    return Timeline(calls, tuple(calls[number] for number in chosen))


def _parents(attempts: Sequence[Attempt]) -> list[int | None]:
    """By attempt, the one it was made in. Tellings that contradict each other could make a cycle, which is cut."""
    told_in: dict[int, int] = {}
    for number, attempt in enumerate(attempts):
        for place in attempt.places:
            told_in.setdefault(place, number)
    parents = [None if attempt.above is None else told_in.get(attempt.above) for attempt in attempts]
    cyclic = on_cycles(parents)
    return [None if number in cyclic else parent for number, parent in enumerate(parents)]
