"""Folding: combines reports, in any order and with repetitions, into one set of steps."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from concord.trace.report import Report, content_digest
from concord_evaluator.trace.chunks import full_steps
from concord_evaluator.trace.columns import NONE, Codes, Flags, Steps, moved
from concord_evaluator.trace.freed_memory import release_freed
from concord_evaluator.trace.reading import ReadTrace, read_trace
from concord_evaluator.trace.records import StepRecord
from concord_evaluator.trace.settling import Attestations, claimed_beside_observed, settle
from concord_evaluator.trace.trees import Numbers, compact


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """The accepted steps with the attestations they are accepted for, and how many attestations were not.

    `steps`: the contents of one step are adjacent, the observed one before the claim beside it, and sorted by their
    digests where that does not tell their order. `first`, `contents`: by step number, the
    first row of the step and how many it has. `carriers`: by row, the rows of the calls whose answers contained the
    step, for those that came in answers. `texts`: a sample of the texts of requests by request digest, also from
    steps that were not accepted.
    """

    steps: Steps
    first: Codes
    contents: Numbers
    carriers: Mapping[int, frozenset[int]]
    texts: Mapping[str, str]
    duplicate: int
    conflicting: int

    @property
    def records(self) -> list[StepRecord]:
        """The facts of all rows."""
        return [self.steps.record(row) for row in range(len(self.steps.columns))]


def fold(reports: Iterable[Report]) -> FoldedTrace:
    """Folds reports. Reads those a second time of which the columns cannot tell whether they repeat another.

    For one (trace id, reporter, step id), the same digest again is a duplicate. Different digests conflict. Of these,
    only the observed ones are accepted; without any, the authenticated one if there is exactly one, since only the
    reporter itself can have sent it. The result depends neither on the order of the reports nor on repetitions, except
    for the count of duplicates.
    """
    again = list(reports) if isinstance(reports, Iterator) else reports
    trace = read_trace(again)
    read = trace.steps
    release_freed(len(read.columns))
    numbers = read.columns.step
    repeated = (np.bincount(numbers, minlength=len(read.step_ids)) > 1)[numbers]
    settled = _settled(trace, repeated, again) if repeated.any() else _Settled(read, np.arange(len(numbers)))
    number = settled.steps.columns.step
    contents = compact(np.bincount(number, minlength=len(read.step_ids)))
    first = np.full(len(read.step_ids), NONE, np.int32)
    first[number[::-1]] = np.arange(len(number), dtype=np.int32)[::-1]
    return FoldedTrace(
        settled.steps,
        first,
        contents,
        _carriers(settled, trace),
        trace.texts,
        settled.duplicate,
        settled.conflicting,
    )


@dataclass(frozen=True, slots=True)
class _Settled:
    """The accepted steps. `place`: by row read, the accepted row with its content, or `NONE`."""

    steps: Steps
    place: Numbers
    duplicate: int = 0
    conflicting: int = 0


def _settled(trace: ReadTrace, repeated: Flags, reports: Iterable[Report]) -> _Settled:
    """Joins the reports of each content, and rejects contents that conflict."""
    read, paired = trace.steps, claimed_beside_observed(trace.steps, repeated)
    unclear = repeated.copy()
    unclear[paired] = False
    row = np.flatnonzero(unclear)
    digests = b"".join([content_digest(step) for step in full_steps(reports, trace.sizes, unclear)])
    settlement = settle(read.columns.step[row], digests, read.columns.source[row], read.sources)
    first = row[settlement.first]
    rows = np.concatenate([np.flatnonzero(~repeated), paired, first[settlement.source != NONE]])
    rows = rows[np.argsort(read.columns.step[rows], kind="stable")]
    source = read.columns.source.copy()
    source[first] = settlement.source
    place = _places(rows, len(source))
    steps = _rows_of(read, rows, place, source, settlement.sources)
    place[row] = place[first][settlement.content]
    return _Settled(steps, place, settlement.duplicate, settlement.conflicting)


def _rows_of(read: Steps, rows: Numbers, place: Numbers, source: Codes, sources: Sequence[Attestations]) -> Steps:
    return replace(
        read,
        columns=replace(read.columns, source=source).take(rows),
        sources=sources,
        parent_ids=moved(read.parent_ids, place),
        errors=moved(read.errors, place),
        retry_of=moved(read.retry_of, place),
    )


def _places(rows: Numbers, n_rows: int) -> Numbers:
    place = np.full(n_rows, NONE, np.int64)
    place[rows] = np.arange(len(rows))
    return place


def _carriers(settled: _Settled, trace: ReadTrace) -> Mapping[int, frozenset[int]]:
    """By accepted row, the accepted rows of the calls whose answers contained it, as accepted reporters say."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for row, carrier in trace.carriers.items():
        inner, outer = int(settled.place[row]), int(settled.place[carrier])
        if inner != NONE and outer != NONE:
            reporters = {each.reporter for each in settled.steps.attestations(inner)}
            if trace.steps.attestations(row)[0].reporter in reporters:
                found[inner].add(outer)
    return {row: frozenset(carriers) for row, carriers in found.items()}
