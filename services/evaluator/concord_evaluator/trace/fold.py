"""Folding: combines reports, in any order and with repetitions, into one set of steps."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from concord.trace.digest import digest
from concord.trace.report import Report
from concord_evaluator.trace.chunks import Sources, chunks
from concord_evaluator.trace.columns import NONE, Flags, Steps, moved
from concord_evaluator.trace.reading import read_trace
from concord_evaluator.trace.records import Attestation, StepRecord
from concord_evaluator.trace.trees import Numbers


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """The accepted steps with the attestations they are accepted for, and how many attestations were not.

    `steps`: the contents of one step are adjacent and sorted by their digests. `first`, `contents`: by step number, the
    first row of the step and how many it has. `carriers`: by row, the rows of the calls whose answers contained the
    step, for those that came in answers. `texts`: a sample of the texts of requests by request digest, also from
    steps that were not accepted.
    """

    steps: Steps
    first: Numbers
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
    """Folds reports, which are read a second time where steps were reported more than once.

    For one (trace id, reporter, step id), the same digest again is a duplicate. Different digests conflict. Of these,
    only the observed ones are accepted; without any, the authenticated one if there is exactly one, since only the
    reporter itself can have sent it. The result depends neither on the order of the reports nor on repetitions, except
    for the count of duplicates.
    """
    again = list(reports) if isinstance(reports, Iterator) else reports
    trace = read_trace(again)
    read = trace.steps
    numbers = read.columns.step
    times = np.bincount(numbers, minlength=len(read.step_ids))
    kept = _Kept.all_of(read) if len(numbers) == len(read.step_ids) else _settled(read, times[numbers] > 1, again)
    steps = kept.steps(read)
    number = steps.columns.step
    contents = np.bincount(number, minlength=len(read.step_ids))
    first = np.full(len(read.step_ids), NONE, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return FoldedTrace(
        steps,
        first,
        contents,
        kept.carriers(steps, read, trace.carriers),
        trace.texts,
        kept.duplicate,
        kept.conflicting,
    )


@dataclass(frozen=True, slots=True)
class _Kept:
    """`rows`: the accepted ones among those read, in their new order. `same_as`: by row read, the one that stands for
    its content. `attestations`: of rows whose step was reported more than once. `digests`: of the same.
    """

    rows: Numbers
    same_as: Mapping[int, int]
    attestations: Mapping[int, tuple[Attestation, ...]]
    digests: Mapping[int, bytes]
    duplicate: int = 0
    conflicting: int = 0

    @classmethod
    def all_of(cls, read: Steps) -> "_Kept":
        return cls(np.arange(len(read.columns)), {}, {}, {})

    def steps(self, read: Steps) -> Steps:
        """The accepted rows."""
        if not self.attestations:
            return read
        rows = self.rows.tolist()
        codes: dict[tuple[Attestation, ...], int] = {}
        sources = list(read.sources)
        source = read.columns.source[self.rows]
        for place, row in enumerate(rows):
            if row in self.attestations:
                found = self.attestations[row]
                if found not in codes:
                    codes[found] = len(sources)
                    sources.append(found)
                source[place] = codes[found]
        return replace(
            read,
            columns=replace(read.columns.take(self.rows), source=source),
            sources=sources,
            parent_ids=moved(read.parent_ids, rows),
            errors=moved(read.errors, rows),
            retry_of=moved(read.retry_of, rows),
            digests=moved(self.digests, rows),
        )

    def carriers(self, steps: Steps, read: Steps, carried: Mapping[int, int]) -> Mapping[int, frozenset[int]]:
        """By accepted row, the accepted rows of the calls whose answers contained it, as accepted reporters say."""
        if not carried:
            return {}
        place = {row: place for place, row in enumerate(self.rows.tolist())}
        found: defaultdict[int, set[int]] = defaultdict(set)
        for row, carrier in carried.items():
            inner, outer = (place.get(self.same_as.get(each, each)) for each in (row, carrier))
            if inner is not None and outer is not None:
                reporters = {each.reporter for each in steps.attestations(inner)}
                if read.attestations(row)[0].reporter in reporters:
                    found[inner].add(outer)
        return {row: frozenset(carriers) for row, carriers in found.items()}


def _settled(read: Steps, repeated: Flags, reports: Iterable[Report]) -> _Kept:
    """Joins the reports of each content, and rejects contents that conflict."""
    digests = _digests(repeated, reports)
    same_as: dict[int, int] = {}
    joined: dict[int, tuple[Attestation, ...]] = {}
    kept: list[int] = []
    place_of: list[int] = []
    duplicate = conflicting = 0
    for reported in _by_step(read, repeated):
        contents: dict[bytes, int] = {}
        for row in reported:
            stands = same_as[row] = contents.setdefault(digests[row], row)
            if stands == row:
                joined[row] = read.attestations(row)
            else:
                joined[stands], again = _attested_again(joined[stands], read.attestations(row)[0])
                duplicate += again
        variants = list(contents.values())
        if len(variants) > 1:
            conflicting += _reject_conflicting(variants, joined)
            variants = sorted((row for row in variants if joined[row]), key=digests.__getitem__)
        kept += variants
        place_of += range(len(variants))
    alone = np.flatnonzero(~repeated)
    rows = np.concatenate([alone, np.array(kept, np.int64)])
    place = np.concatenate([np.zeros(len(alone), np.int64), np.array(place_of, np.int64)])
    rows = rows[np.lexsort((place, read.columns.step[rows]))]
    several = {row: digests[row] for row in kept}
    return _Kept(rows, same_as, joined, several, duplicate, conflicting)


def _by_step(read: Steps, repeated: Flags) -> Iterator[Sequence[int]]:
    """The rows of each step that was reported more than once, in their order."""
    rows = np.flatnonzero(repeated)
    rows = rows[np.argsort(read.columns.step[rows], kind="stable")]
    ends = np.flatnonzero(np.diff(read.columns.step[rows])) + 1
    listed = rows.tolist()
    bounds = [0, *ends.tolist(), len(listed)]
    for number in range(len(bounds) - 1):
        yield listed[bounds[number] : bounds[number + 1]]


def _digests(repeated: Flags, reports: Iterable[Report]) -> dict[int, bytes]:
    """The digests of these rows, from the reports in the order in which they were read."""
    found: dict[int, bytes] = {}
    first = 0
    for chunk in chunks(reports, Sources()):
        places = np.flatnonzero(repeated[first : first + len(chunk.steps)]).tolist()
        found |= {first + place: digest(chunk.steps[place]).content for place in places}
        first += len(chunk.steps)
    return found


def _attested_again(known: tuple[Attestation, ...], attestation: Attestation) -> tuple[tuple[Attestation, ...], bool]:
    """The attestations of a content with another one, and whether its reporter had attested it before."""
    again = any(each.reporter == attestation.reporter for each in known)
    if again:
        known = tuple([each.joined(attestation) if each.reporter == attestation.reporter else each for each in known])
    else:
        known = tuple(sorted((*known, attestation), key=attrgetter("reporter")))
    return known, again


def _reject_conflicting(variants: Collection[int], joined: dict[int, tuple[Attestation, ...]]) -> int:
    """Removes the attestations that are not accepted from the contents of one step. Returns how many."""
    by_reporter: defaultdict[str, list[tuple[int, Attestation]]] = defaultdict(list)
    for row in variants:
        for attestation in joined[row]:
            by_reporter[attestation.reporter].append((row, attestation))
        joined[row] = ()
    rejected = 0
    for reporter in sorted(by_reporter):
        rejected += len(by_reporter[reporter])
        for row, attestation in _accepted(by_reporter[reporter]):
            rejected -= 1
            joined[row] = (*joined[row], attestation)
    return rejected


def _accepted(attested: list[tuple[int, Attestation]]) -> list[tuple[int, Attestation]]:
    """The accepted ones among the contents that one reporter attested for one step."""
    if len(attested) == 1:
        return attested
    if observed := [each for each in attested if each[1].observed]:
        return observed
    authenticated = [each for each in attested if each[1].authenticated]
    return authenticated if len(authenticated) == 1 else []
