"""Folding: combines reports, in any order and with repetitions, into one set of steps and its forest."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np

from concord.trace.report import Report
from concord.trace.stored_step import content_digest
from concord_evaluator.trace.columns import NONE, Attestation, Flags, StepRecord, Steps, cases, changes, pairs
from concord_evaluator.trace.reading import ReadTrace, read_trace, wanted_steps
from concord_evaluator.trace.trees import ROOT, Numbers, ordered

# Settling: which contents of steps that were reported more than once are accepted, and who attests each.

Attestations: TypeAlias = tuple[Attestation, ...]
"""Of one content, sorted by reporter."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """`content`: by report, the number of its content; contents are sorted by step and digest. `first`: by content, the
    first report of it; `source`: by content, the place of its accepted attestations in `sources`, or `NONE`.

    `duplicate`: how many reports repeat what their reporter had told. `conflicting`: attestations that were rejected.
    """

    content: Numbers
    first: Numbers
    source: Numbers
    sources: Sequence[Attestations]
    duplicate: int
    conflicting: int


_TOLD: Final = attrgetter(
    "parent", "kind", "agent", "callee_url", "callee_name", "request", "error", "answered", "tokens"
)
"""Columns that differ only where digests of contents do. Times do not: digests hold them rounded."""


def claimed_beside_observed(steps: Steps, repeated: Flags) -> Numbers:
    """The rows of steps that have one observed content and, by another reporter, one that a column tells from it.

    Nearly all steps that are reported twice are such a call, and they need no digests: nothing conflicts, and the
    observed content, which comes first here, goes before the other wherever an order matters. `repeated`: by row,
    whether its step has several.
    """
    columns = steps.columns
    row = np.flatnonzero(repeated)
    row = row[np.argsort(columns.step[row], kind="stable")]
    begins = np.flatnonzero(changes(columns.step[row]))
    two = begins[np.diff(np.append(begins, len(row))) == 2]
    one, other = row[two], row[two + 1]
    observed, reporter = steps.of_sources("observed"), _reporters(steps.sources)[columns.source]
    apart = (observed[one] != observed[other]) & (reporter[one] != reporter[other])
    apart &= np.logical_or.reduce([column[one] != column[other] for column in _TOLD(columns)])
    pair = np.where(observed[one], (one, other), (other, one))
    return pair[:, apart].T.ravel()


def settle(step: Numbers, digests: Sequence[bytes], source: Numbers, sources: Sequence[Attestations]) -> Settlement:
    """Joins the attestations of each content, and rejects those that conflict.

    `step`, `digests`, `source`: by report, the number of its step, the 16 bytes that name its content, and the place
    of its attestation in `sources`, which has one for each reporter and channel.
    """
    _, digest = np.unique(np.array(digests, "S16"), return_inverse=True)
    first, content = cases(step, digest)
    attested, attesting = pairs(content, source)[0].T
    reporters = _reporters(sources)
    told, teller = pairs(content, reporters[source])[0].T
    step_of = step[first]
    contested = _contested(step_of, told, teller)
    several = np.bincount(attested, minlength=len(first)) > 1
    alone = ~(contested | several)[attested]
    settled = np.full(len(first), NONE)
    settled[attested[alone]] = attesting[alone]
    codes = {attestations: code for code, attestations in enumerate(sources)}
    conflicting = 0
    for number, attestations, rejected in _joined(step_of, contested, attested[~alone], attesting[~alone], sources):
        conflicting += rejected
        if attestations:
            settled[number] = codes.setdefault(attestations, len(codes))
    return Settlement(content, first, settled, list(codes), len(step) - len(told), conflicting)


def _reporters(sources: Sequence[Attestations]) -> Numbers:
    """By attestation, the number of its reporter."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(each.reporter, len(numbers)) for (each,) in sources], np.int64)


def _contested(step: Numbers, content: Numbers, reporter: Numbers) -> Flags:
    """By content, whether a reporter tells two contents of its step. `step`: by content. The other two are the pairs of
    a content and who reported it."""
    order = np.lexsort((reporter, step[content]))
    again = ~changes(step[content[order]], reporter[order])
    contested: Flags = np.isin(step, step[content[order[again]]])
    return contested


def _joined(
    step: Numbers, contested: Flags, content: Numbers, source: Numbers, sources: Sequence[Attestations]
) -> Iterator[tuple[int, Attestations, int]]:
    """Contents with their accepted attestations, and how many were rejected. `content`, `source`: the pairs of a
    content and an attestation, sorted by content."""
    attested: defaultdict[int, list[Attestation]] = defaultdict(list)
    for number, code in zip(content.tolist(), source.tolist(), strict=True):
        attested[number].append(sources[code][0])
    numbers = list(attested)
    ends = np.flatnonzero(changes(step[numbers])).tolist()
    for begin, end in pairwise([*ends, len(numbers)]):
        variants = {number: _by_reporter(attested[number]) for number in numbers[begin:end]}
        accepted = _without_conflicts(variants) if contested[numbers[begin]] else variants
        rejected = sum(map(len, variants.values())) - sum(map(len, accepted.values()))
        for number, attestations in accepted.items():
            yield number, attestations, rejected
            rejected = 0


def _by_reporter(attestations: Iterable[Attestation]) -> Attestations:
    joined: dict[str, Attestation] = {}
    for each in attestations:
        known = joined.get(each.reporter)
        joined[each.reporter] = each if known is None else known.joined(each)
    return tuple([joined[reporter] for reporter in sorted(joined)])


def _without_conflicts(variants: dict[int, Attestations]) -> dict[int, Attestations]:
    """The contents of one step with those attestations that are accepted, possibly none."""
    by_reporter: defaultdict[str, list[tuple[int, Attestation]]] = defaultdict(list)
    for number, attestations in variants.items():
        for attestation in attestations:
            by_reporter[attestation.reporter].append((number, attestation))
    accepted: dict[int, Attestations] = dict.fromkeys(variants, ())
    for reporter in sorted(by_reporter):
        for number, attestation in _accepted(by_reporter[reporter]):
            accepted[number] = (*accepted[number], attestation)
    return accepted


def _accepted(attested: list[tuple[int, Attestation]]) -> list[tuple[int, Attestation]]:
    """The accepted ones among the contents that one reporter attested for one step."""
    if len(attested) == 1:
        return attested
    if observed := [each for each in attested if each[1].observed]:
        return observed
    authenticated = [each for each in attested if each[1].authenticated]
    return authenticated if len(authenticated) == 1 else []


# The reports of a step become one step.


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """The accepted steps with the attestations they are accepted for, and how many attestations were not.

    `steps`: the contents of one step are adjacent, the observed one before the claim beside it, and sorted by their
    digests where that does not tell their order. `first`, `contents`: by step number, the first row of the step, or
    `NONE`, and how many it has. `carriers`: by row, the rows of the calls whose answers contained the step, for those
    that came in answers. `texts`: a sample of the texts of requests by request digest, also from steps that were not
    accepted.
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
    """Folds reports. Reads those a second time of which the columns cannot tell whether they repeat another.

    For one (trace id, reporter, step id), the same digest again is a duplicate. Different digests conflict. Of these,
    only the observed ones are accepted; without any, the authenticated one if there is exactly one, since only the
    reporter itself can have sent it. The result depends neither on the order of the reports nor on repetitions, except
    for the count of duplicates.
    """
    again = list(reports) if isinstance(reports, Iterator) else reports
    trace = read_trace(again)
    read = trace.steps
    numbers = read.columns.step
    repeated = (np.bincount(numbers, minlength=len(read.step_ids)) > 1)[numbers]
    settled = _settled(trace, repeated, again) if repeated.any() else _Settled(read, np.arange(len(numbers)))
    number = settled.steps.columns.step
    contents = np.bincount(number, minlength=len(read.step_ids))
    first = np.full(len(read.step_ids), NONE)
    first[number[::-1]] = np.arange(len(number))[::-1]
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
    digests = [content_digest(step) for step in wanted_steps(reports, trace.sizes, unclear)]
    settlement = settle(read.columns.step[row], digests, read.columns.source[row], read.sources)
    first = row[settlement.first]
    rows = np.concatenate([np.flatnonzero(~repeated), paired, first[settlement.source != NONE]])
    rows = rows[np.argsort(read.columns.step[rows], kind="stable")]
    source = read.columns.source.copy()
    source[first] = settlement.source
    place = np.full(len(source), NONE)
    place[rows] = np.arange(len(rows))
    columns = replace(read.columns, source=source).take(rows)
    place[row] = place[first][settlement.content]
    steps = replace(read, columns=columns, sources=settlement.sources)
    return _Settled(steps, place, settlement.duplicate, settlement.conflicting)


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


# The step forest: the parent of each step, regardless of who reported it and when.


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
    parents, told = np.append(trace.first, ROOT)[named], np.append(trace.contents, 0)[named]  # the last are for `NONE`
    contested = np.flatnonzero(told > 1)
    parents[contested] = _variants(parents[contested], told[contested], contested, steps)
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
