"""The step forest: which step was made under which, whoever reported them and in whatever order."""

from collections import defaultdict
from dataclasses import dataclass

from concord_evaluator.trace.cycles import on_cycles
from concord_evaluator.trace.fold import FoldedTrace
from concord_evaluator.trace.records import StepKey

_Index = dict[tuple[str, str], list[StepKey]]


@dataclass(frozen=True, slots=True)
class Forest:
    """The parent of each step, parents before their children. None: a root, or one that lost its parent.

    `orphaned` counts steps that name a parent nobody reported: they hang under a virtual root. `refused` counts steps
    in a cycle of parents: they are not in the forest.
    """

    parents: dict[StepKey, StepKey | None]
    orphaned: int
    refused: int

    @property
    def completeness(self) -> float | None:
        """The share of steps whose place is known; None without steps."""
        steps = len(self.parents) + self.refused
        return (len(self.parents) - self.orphaned) / steps if steps else None


def grow(trace: FoldedTrace) -> Forest:
    """Hangs every step under its parent; the two ends of a call meet by the caller's step id."""
    index: _Index = defaultdict(list)
    for key in trace.records:
        index[key.trace_id, key.step_id].append(key)
    named = {key: _parent(key, trace, index) for key in trace.records}
    cyclic = on_cycles(named)
    parents = {key: None if parent in cyclic else parent for key, parent in named.items() if key not in cyclic}
    orphaned = sum(parent is None and _has_parent(key, trace) for key, parent in parents.items())
    return Forest(_parents_first(parents), orphaned, len(cyclic))


def _has_parent(key: StepKey, trace: FoldedTrace) -> bool:
    return trace.records[key].parent_id is not None


def _parent(key: StepKey, trace: FoldedTrace, index: _Index) -> StepKey | None:
    """The step's own word first. One that was only relayed stands at least under the call that it came with."""
    parent_id = trace.records[key].parent_id
    candidates = index.get((key.trace_id, parent_id), []) if parent_id is not None else []
    if not candidates and not any(telling.direct for telling in trace.tellings[key]):
        candidates = [
            carrier for telling in trace.tellings[key] for carrier in telling.carriers if carrier in trace.records
        ]
    return min(candidates, key=lambda candidate: _remoteness(candidate, key, trace), default=None)


def _remoteness(candidate: StepKey, child: StepKey, trace: FoldedTrace) -> tuple[bool, bool, bool, StepKey]:
    """Orders the contents that share a parent's id: the child's own reporter's, then observed, told, relayed."""
    own = {telling.reporter for telling in trace.tellings[child]}
    tellings = trace.tellings[candidate]
    return (
        not any(telling.direct and telling.reporter in own for telling in tellings),
        not any(telling.observed for telling in tellings),
        not any(telling.direct for telling in tellings),
        candidate,
    )


def _parents_first(parents: dict[StepKey, StepKey | None]) -> dict[StepKey, StepKey | None]:
    children: dict[StepKey | None, list[StepKey]] = defaultdict(list)
    for key, parent in parents.items():
        children[parent].append(key)
    ordered: dict[StepKey, StepKey | None] = {}
    pending = children[None]
    while pending:
        key = pending.pop()
        ordered[key] = parents[key]
        pending.extend(children.get(key, ()))
    return ordered
