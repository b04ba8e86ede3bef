"""The step forest: which step was made under which, whoever reported them and in whatever order."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from concord_evaluator.trace.fold import FoldedTrace
from concord_evaluator.trace.records import StepRecord
from concord_evaluator.trace.trees import on_cycles, parents_first


@dataclass(frozen=True, slots=True)
class Forest:
    """By record, the place of its parent's. None: a root, or one that lost its parent.

    `order`: the places of the records in the forest, parents before their children. `orphaned` counts steps that name
    a parent nobody reported: they hang under a virtual root. `refused` counts steps in a cycle of parents: they are
    not in the forest.
    """

    records: Sequence[StepRecord]
    parents: Sequence[int | None]
    order: Sequence[int]
    orphaned: int
    refused: int

    @property
    def completeness(self) -> float | None:
        """The share of steps whose place is known; None without steps."""
        steps = len(self.parents)
        return (steps - self.refused - self.orphaned) / steps if steps else None


def grow(trace: FoldedTrace) -> Forest:
    """Hangs every step under its parent; the two ends of a call meet by the caller's step id."""
    parents = _Parents(trace.records)
    named = [parents.of(record) for record in trace.records]
    cyclic = on_cycles(named)
    if cyclic:
        named = [None if parent in cyclic or place in cyclic else parent for place, parent in enumerate(named)]
    orphaned = sum(
        parent is None and record.parent_id is not None and place not in cyclic
        for place, (parent, record) in enumerate(zip(named, trace.records, strict=True))
    )
    order = array("q", (place for place in parents_first(named) if place not in cyclic))
    return Forest(trace.records, named, order, orphaned, len(cyclic))


class _Parents:
    """Finds a step's parent among the records."""

    def __init__(self, records: Sequence[StepRecord]) -> None:
        self._records = records
        self._first: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """By trace and step id, the place of the first record that has them; more may follow it."""
        for place, record in enumerate(records):
            self._first[record.trace_id].setdefault(record.step_id, place)
        carriers = {digest for record in records for telling in record.tellings for digest in telling.carriers}
        self._carriers = {record.digest: place for place, record in enumerate(records) if record.digest in carriers}

    def of(self, record: StepRecord) -> int | None:
        """The step's own word first. One that was only relayed stands at least under the call that it came with."""
        first = None if record.parent_id is None else self._first[record.trace_id].get(record.parent_id)
        if first is not None:
            record.parent_id = self._records[first].step_id  # the same text, held once
            candidates = self._contents(first)
        elif record.direct:
            return None
        else:
            carriers = {digest for telling in record.tellings for digest in telling.carriers}
            candidates = [self._carriers[digest] for digest in carriers if digest in self._carriers]
        if len(candidates) == 1:
            return candidates[0]
        return min(candidates, key=lambda candidate: _remoteness(self._records[candidate], record), default=None)

    def _contents(self, first: int) -> Sequence[int]:
        """The places of all records with the trace and step id of the first of them."""
        after = first + 1
        while after < len(self._records) and self._records[after].is_rival_of(self._records[first]):
            after += 1
        return [first, *range(first + 1, after)]


def _remoteness(candidate: StepRecord, child: StepRecord) -> tuple[bool, bool, bool, str, str, bytes]:
    """Orders the contents that share a parent's id: the child's own reporter's, then observed, told, relayed."""
    own = {telling.reporter for telling in child.tellings}
    return (
        not any(telling.direct and telling.reporter in own for telling in candidate.tellings),
        not candidate.observed,
        not candidate.direct,
        candidate.trace_id,
        candidate.step_id,
        candidate.digest,
    )
