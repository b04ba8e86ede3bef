"""The step forest: the parent of each step, regardless of who reported it and when."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from lab.columns.fold import FoldedTrace, StepIndex
from lab.columns.records import StepRecord
from lab.columns.trees import ROOT, parents_first


@dataclass(frozen=True, slots=True)
class Forest:
    """`parents`: by record, the index of its parent's record, or `ROOT` for a step without a known parent.

    `order`: the indices of the records in the forest, parents before their children. `orphaned` counts steps whose
    parent nobody reported, and observed steps that would be their own ancestors; their parent is `ROOT`. `refused`
    counts steps in a cycle of parents, which are left out.
    """

    records: Sequence[StepRecord]
    parents: Sequence[int]
    order: Sequence[int]
    orphaned: int
    refused: int

    @property
    def completeness(self) -> float | None:
        """The share of steps whose position in the forest is known. None without steps."""
        steps = len(self.parents)
        return (steps - self.refused - self.orphaned) / steps if steps else None


def build_forest(trace: FoldedTrace, step_index: StepIndex) -> Forest:
    """Finds the parent of every step. Both ends of a call know it by the caller's step id, so their steps connect.

    An observed step in a cycle of parents loses its parent: no claim may remove a call that the gateway observed.
    """
    parents = _Parents(trace.records, step_index)
    named = array("q", map(parents.of, trace.records))
    order = parents_first(named)
    if observed := [index for index in order.cyclic if trace.records[index].observed]:
        for index in observed:
            named[index] = ROOT
        order = parents_first(named)
    for index, parent in enumerate(named) if order.cyclic else ():
        if parent in order.cyclic or index in order.cyclic:
            named[index] = ROOT
    orphaned = sum(
        parent == ROOT and record.parent_id is not None and index not in order.cyclic
        for index, (parent, record) in enumerate(zip(named, trace.records, strict=True))
    )
    return Forest(trace.records, named, order.nodes, orphaned, len(order.cyclic))


class _Parents:
    """Finds the parent of a step among the records."""

    def __init__(self, records: Sequence[StepRecord], step_index: StepIndex) -> None:
        self._records = records
        self._step_index = step_index
        carriers = {
            digest for record in self._records for attestation in record.attestations for digest in attestation.carriers
        }
        self._carriers = {
            record.digest: index for index, record in enumerate(self._records) if record.digest in carriers
        }

    def of(self, record: StepRecord) -> int:
        """The index of the named parent, else of the call whose answer contained the step, else `ROOT`."""
        candidates: Sequence[int] = ()
        if record.parent_id is not None:
            candidates = self._step_index.indices_of(record.trace_id, record.parent_id)
        if candidates:
            record.parent_id = self._records[candidates[0]].step_id  # shares one string object
        elif not record.direct:
            carriers = {digest for attestation in record.attestations for digest in attestation.carriers}
            candidates = [self._carriers[digest] for digest in carriers if digest in self._carriers]
        if len(candidates) > 1:
            return min(candidates, key=lambda candidate: _remoteness(self._records[candidate], record))
        return candidates[0] if candidates else ROOT


def _remoteness(candidate: StepRecord, child: StepRecord) -> tuple[bool, bool, bool, str, str, str, bytes]:
    """Orders the variants of a parent: from the child's own reporter first, then observed, direct, relayed.

    Digests decide last, and only between variants of one reporter: a participant can choose those of its steps.
    """
    own = {attestation.reporter for attestation in child.attestations}
    return (
        not any(attestation.direct and attestation.reporter in own for attestation in candidate.attestations),
        not candidate.observed,
        not candidate.direct,
        candidate.trace_id,
        candidate.step_id,
        min(attestation.reporter for attestation in candidate.attestations),
        candidate.digest,
    )
