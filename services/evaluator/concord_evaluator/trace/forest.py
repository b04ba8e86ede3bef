"""The step forest: the parent of each step, regardless of who reported it and when."""

from dataclasses import dataclass

import numpy as np

from concord_evaluator.trace.columns import NONE, Flags, Steps
from concord_evaluator.trace.fold import FoldedTrace
from concord_evaluator.trace.trees import ROOT, Numbers, ordered


@dataclass(frozen=True, slots=True)
class Forest:
    """`parents`: by row, the row of its parent, or `ROOT` for a step without a known parent. `depth`: the number of
    its ancestors.

    `orphaned` counts steps whose parent nobody reported, and observed steps that would be their own ancestors; their
    parent is `ROOT`. `refused`: whether a step is in a cycle of parents; such steps are left out, and their parent is
    `ROOT` as well.
    """

    steps: Steps
    parents: Numbers
    depth: Numbers
    orphaned: int
    refused: Flags

    @property
    def completeness(self) -> float | None:
        """The share of steps whose position in the forest is known. None without steps."""
        steps = len(self.parents)
        return (steps - int(self.refused.sum()) - self.orphaned) / steps if steps else None


def build_forest(trace: FoldedTrace) -> Forest:
    """Finds the parent of every step. Both ends of a call know it by the caller's step id, so their steps connect.

    An observed step in a cycle of parents loses its parent: no claim may remove a call that the gateway observed.
    """
    steps = trace.steps
    parents = _parents(trace)
    order = ordered(parents)
    if order.cyclic.any():
        if (observed := order.cyclic & steps.of_sources("observed")).any():
            parents[observed] = ROOT
            order = ordered(parents)
        parents[order.cyclic | ((parents != ROOT) & order.cyclic[parents])] = ROOT
    orphaned = (parents == ROOT) & (steps.columns.parent != NONE) & ~order.cyclic
    return Forest(steps, parents, order.depth, int(orphaned.sum()), order.cyclic)


def _parents(trace: FoldedTrace) -> Numbers:
    """By row, the row of the named parent, else of the call whose answer contained the step, else `ROOT`."""
    steps, named = trace.steps, trace.steps.columns.parent
    known, number = named >= 0, np.maximum(named, 0)
    parents = np.where(known, trace.first[number], ROOT)
    contested = known & (trace.contents[number] > 1)
    found: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero(contested).tolist():
        first = int(parents[row])
        case = first, int(steps.columns.source[row])
        if case not in found:
            candidates = range(first, first + int(trace.contents[named[row]]))
            found[case] = min(candidates, key=lambda each: _remoteness(each, row, steps))
        parents[row] = found[case]
    direct = steps.of_sources("direct") if trace.carriers else None
    for row, carriers in trace.carriers.items():
        if parents[row] == ROOT and direct is not None and not direct[row]:
            parents[row] = min(carriers, key=lambda each: _remoteness(each, row, steps))
    return parents


def _remoteness(candidate: int, child: int, steps: Steps) -> tuple[bool, bool, bool, str, str, str, bytes]:
    """Orders the variants of a parent: from the child's own reporter first, then observed, direct, relayed.

    Digests decide last, and only between variants of one reporter: a participant can choose those of its steps.
    """
    own = {attestation.reporter for attestation in steps.attestations(child)}
    attestations = steps.attestations(candidate)
    return (
        not any(attestation.direct and attestation.reporter in own for attestation in attestations),
        not any(attestation.observed for attestation in attestations),
        not any(attestation.direct for attestation in attestations),
        steps.trace_id(candidate),
        steps.step_id(candidate),
        min(attestation.reporter for attestation in attestations),
        steps.digests.get(candidate, b""),
    )
