"""Settling: which contents of steps that were reported more than once are accepted, and who attests each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np

from concord_evaluator.trace.cases import changes, pairs
from concord_evaluator.trace.columns import NONE, Codes, Flags, Steps
from concord_evaluator.trace.records import Attestation
from concord_evaluator.trace.trees import Numbers

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
    source: Codes
    sources: Sequence[Attestations]
    duplicate: int
    conflicting: int


_TOLD: Final = attrgetter(
    "parent", "kind", "agent", "callee_url", "callee_name", "request", "failed", "answered", "tokens"
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


def settle(step: Codes, digests: bytes, source: Codes, sources: Sequence[Attestations]) -> Settlement:
    """Joins the attestations of each content, and rejects those that conflict.

    `step`, `digests`, `source`: by report, the number of its step, the 16 bytes that name its content, and the place
    of its attestation in `sources`, which has one for each reporter and channel.
    """
    high, low = np.frombuffer(digests, ">u8").reshape(-1, 2).astype(np.uint64).T
    order = np.lexsort((low, high, step))
    new = changes(step[order], high[order], low[order])
    content = np.empty(len(order), np.int64)
    content[order] = np.cumsum(new) - 1
    first = order[new]
    attested, attesting = pairs(content, source)[0].T
    reporters = _reporters(sources)
    told, teller = pairs(content, reporters[source])[0].T
    step_of = step[first]
    contested = _contested(step_of, told, teller)
    several = np.bincount(attested, minlength=len(first)) > 1
    alone = ~(contested | several)[attested]
    settled = np.full(len(first), NONE, np.int32)
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


def _contested(step: Codes, content: Numbers, reporter: Numbers) -> Flags:
    """By content, whether a reporter tells two contents of its step. `step`: by content. The other two are the pairs of
    a content and who reported it."""
    order = np.lexsort((reporter, step[content]))
    again = ~changes(step[content[order]], reporter[order])
    contested: Flags = np.isin(step, step[content[order[again]]])
    return contested


def _joined(
    step: Codes, contested: Flags, content: Numbers, source: Numbers, sources: Sequence[Attestations]
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
