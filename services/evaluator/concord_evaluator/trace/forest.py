"""The step forest: which step was made under which, whoever reported them and in whatever order."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from concord_evaluator.trace.fold import FoldedTrace, StepIndex
from concord_evaluator.trace.records import StepRecord
from concord_evaluator.trace.trees import ROOT, parents_first


@dataclass(frozen=True, slots=True)
class Forest:
    """By record, the place of its parent's, or `ROOT`, also for one that lost its parent.

    `order`: the places of the records in the forest, parents before their children. `orphaned` counts steps that name
    a parent nobody reported: they hang under a virtual root. `refused` counts steps in a cycle of parents: they are
    not in the forest.
    """

    records: Sequence[StepRecord]
    parents: Sequence[int]
    order: Sequence[int]
    orphaned: int
    refused: int

    @property
    def completeness(self) -> float | None:
        """The share of steps whose place is known; None without steps."""
        steps = len(self.parents)
        return (steps - self.refused - self.orphaned) / steps if steps else None


def grow(trace: FoldedTrace, index: StepIndex) -> Forest:
    """Hangs every step under its parent; the two ends of a call meet by the caller's step id."""
    parents = _Parents(trace.records, index)
    named = array("q", map(parents.of, trace.records))
    order = parents_first(named)
    for place, parent in enumerate(named) if order.cyclic else ():
        if parent in order.cyclic or place in order.cyclic:
            named[place] = ROOT
    orphaned = sum(
        parent == ROOT and record.parent_id is not None and place not in order.cyclic
        for place, (parent, record) in enumerate(zip(named, trace.records, strict=True))
    )
    return Forest(trace.records, named, order.nodes, orphaned, len(order.cyclic))


class _Parents:
    """Finds a step's parent among the records."""

    def __init__(self, records: Sequence[StepRecord], index: StepIndex) -> None:
        self._records = records
        self._index = index
        carriers = {digest for record in self._records for telling in record.tellings for digest in telling.carriers}
        self._carriers = {
            record.digest: place for place, record in enumerate(self._records) if record.digest in carriers
        }

    def of(self, record: StepRecord) -> int:
        """The step's own word first. One that was only relayed stands at least under the call that it came with."""
        candidates: Sequence[int] = ()
        if record.parent_id is not None:
            candidates = self._index.places_of(record.trace_id, record.parent_id)
        if candidates:
            record.parent_id = self._records[candidates[0]].step_id  # the same text, held once
        elif not record.direct:
            carriers = {digest for telling in record.tellings for digest in telling.carriers}
            candidates = [self._carriers[digest] for digest in carriers if digest in self._carriers]
        if len(candidates) > 1:
            return min(candidates, key=lambda candidate: _remoteness(self._records[candidate], record))
        return candidates[0] if candidates else ROOT


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
