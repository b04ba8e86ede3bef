"""The step forest: the parent of each step, regardless of who reported it and when."""

from dataclasses import dataclass

import numpy as np

from concord_evaluator.trace.cases import cases
from concord_evaluator.trace.columns import NONE, Flags, Steps
from concord_evaluator.trace.fold import FoldedTrace
from concord_evaluator.trace.settling import Attestations
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
    contested = np.flatnonzero(known & (trace.contents[number] > 1))
    parents[contested] = _variants(parents[contested], trace.contents[named[contested]], contested, steps)
    if trace.carriers:
        direct = steps.of_sources("direct")
        for row, carriers in trace.carriers.items():
            if parents[row] == ROOT and not direct[row]:
                parents[row] = min(carriers, key=lambda each: _remoteness(each, row, steps))
    return parents


def _variants(first: Numbers, contents: Numbers, child: Numbers, steps: Steps) -> Numbers:
    """By child, the row of its parent, whose contents are in `contents` rows from `first` on.

    The first of them decides last, and only between contents of one reporter: they are sorted by digest, and a
    participant can choose the digests of its steps.
    """
    number = np.repeat(np.arange(len(child)), contents)
    begins = np.cumsum(contents) - contents
    row = first[number] + np.arange(len(number)) - begins[number]
    source = steps.columns.source
    of_case, case = cases(source[row], source[child[number]])
    keys = [
        _remoteness_of(steps.attestations(told), steps.attestations(made_in))
        for told, made_in in zip(row[of_case].tolist(), child[number[of_case]].tolist(), strict=True)
    ]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    rank = np.array([ranks[key] for key in keys], np.int64)[case]
    variants: Numbers = row[np.lexsort((row, rank, number))[begins]]
    return variants


def _remoteness_of(told: Attestations, made_in: Attestations) -> tuple[bool, bool, bool, str]:
    """Orders contents of a parent by who attests them: the child's own reporter, then observed, direct, relayed.

    `made_in`: the attestations of the child.
    """
    own = {attestation.reporter for attestation in made_in}
    return (
        not any(attestation.direct and attestation.reporter in own for attestation in told),
        not any(attestation.observed for attestation in told),
        not any(attestation.direct for attestation in told),
        min(attestation.reporter for attestation in told),
    )


def _remoteness(candidate: int, child: int, steps: Steps) -> tuple[bool, bool, bool, str, str, str, int]:
    """The same for rows of different steps, whose ids decide before their reporters."""
    own, observed, direct, reporter = _remoteness_of(steps.attestations(candidate), steps.attestations(child))
    return own, observed, direct, steps.trace_id(candidate), steps.step_id(candidate), reporter, candidate
