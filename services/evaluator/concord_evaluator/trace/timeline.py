"""The temporal view: the calls of a trace in causal order, which no clock decides."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf

from concord_evaluator.trace.cycles import on_cycles
from concord_evaluator.trace.interactions import Attempt, Provenance
from concord_evaluator.trace.records import StepKey, StepRecord


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt to call an agent, where it stands; `parent`: the index of the call that it was made in."""

    caller: str
    callee: str
    step_id: str
    parent: int | None
    record: StepRecord
    provenance: Provenance


def causal_order(attempts: Sequence[Attempt], counted: Collection[Provenance]) -> tuple[Call, ...]:
    """The attempts with a provenance that counts, each after the call it was made in.

    Calls without such a bond stand in the order of their starts, as far as these are known and no earlier than the
    start of what they were made in: clocks of different machines are not to be trusted, an agent's own is. A call of
    unknown start counts as begun with the one it was made in. An attempt that does not count hands those made in it on
    to the call above it.
    """
    parents = _parents(attempts)
    counts = [attempt.provenance in counted for attempt in attempts]
    ordered = _parents_first(parents)
    depth, start, nearest = [0] * len(attempts), [-inf] * len(attempts), list(parents)
    for number in ordered:
        parent, started = parents[number], attempts[number].record.started_us
        own = -inf if started is None else float(started)
        start[number] = own if parent is None else max(own, start[parent])
        depth[number] = 0 if parent is None else depth[parent] + 1
        if parent is not None and not counts[parent]:
            nearest[number] = nearest[parent]
    chosen = [number for number in range(len(attempts)) if counts[number]]
    chosen.sort(key=lambda number: (start[number], depth[number], attempts[number].step_id, number))
    place = {number: index for index, number in enumerate(chosen)}
    return tuple(_call(attempts[number], nearest[number], place) for number in chosen)


def _call(attempt: Attempt, parent: int | None, place: dict[int, int]) -> Call:
    return Call(
        caller=attempt.caller,
        callee=attempt.callee,
        step_id=attempt.step_id,
        parent=None if parent is None else place[parent],
        record=attempt.record,
        provenance=attempt.provenance,
    )


def _parents(attempts: Sequence[Attempt]) -> list[int | None]:
    """By attempt, the one it was made in. Tellings that contradict each other could make a cycle, which is cut."""
    told_in: dict[StepKey, int] = {}
    for number, attempt in enumerate(attempts):
        for key in attempt.keys:
            told_in.setdefault(key, number)
    parents = [None if attempt.above is None else told_in.get(attempt.above) for attempt in attempts]
    cyclic = on_cycles(dict(enumerate(parents)))
    return [None if number in cyclic else parent for number, parent in enumerate(parents)]


def _parents_first(parents: Sequence[int | None]) -> Iterable[int]:
    children: list[list[int]] = [[] for _ in parents]
    pending: list[int] = []
    for number, parent in enumerate(parents):
        (pending if parent is None else children[parent]).append(number)
    while pending:
        number = pending.pop()
        yield number
        pending.extend(children[number])
