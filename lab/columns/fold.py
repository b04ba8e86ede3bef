"""Folding: combines reports, in any order and with repetitions, into one set of step records."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from concord.trace.report import Channel, Report
from concord.trace.stored_step import Step
from concord_evaluator.trace.reading import RequestTexts
from lab.columns.records import Attestation, StepRecord
from tests.kit.digests import StepDigest, digest

_OBSERVED: Final = Channel.OBSERVED


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """The accepted steps with the attestations they are accepted for, and how many attestations were not.

    `records`: variants of one step are adjacent and sorted by their digests. `texts`: a sample of the texts of requests
    by request digest, also from steps that were not accepted.
    """

    records: Sequence[StepRecord]
    texts: Mapping[str, str]
    duplicate: int
    conflicting: int


@dataclass(frozen=True, slots=True)
class StepIndex:
    """Where the records of each step are.

    `first`: by trace and step id, the index of the first record. `contested`: by that index, the number of variants,
    where there are several.
    """

    first: Mapping[str, Mapping[str, int]]
    contested: Mapping[int, int]

    def indices_of(self, trace_id: str, step_id: str) -> Sequence[int]:
        """The indices of all records of a step; empty if it has none."""
        first = self.first[trace_id].get(step_id)
        if first is None:
            return ()
        return (first,) if first not in self.contested else range(first, first + self.contested[first])


def fold(reports: Iterable[Report]) -> tuple[FoldedTrace, StepIndex]:
    """Folds reports one by one, so that memory never holds the whole trace in parsed form.

    For one (trace id, reporter, step id), the same digest again is a duplicate. Different digests conflict. Of these,
    only the observed ones are accepted; without any, the authenticated one if there is exactly one, since only the
    reporter itself can have sent it. The result depends neither on the order of the reports nor on repetitions, except
    for the count of duplicates.
    """
    contents = _Contents()
    own: dict[tuple[str, bool, bool], tuple[Attestation]] = {}
    """The shared attestations of directly reported steps."""
    for report in reports:
        step, reporter, authenticated, channel, _ = report
        name = digest(step)
        source = (reporter, channel is _OBSERVED, authenticated)
        attestations = own.get(source)
        if attestations is None:
            attestations = own[source] = (Attestation(source[0], True, *source[1:]),)
        contents.add(step, name, attestations)
        if step.answer_steps:
            for inner, inner_name, carrier in _nested(step, name):
                attestation = Attestation(reporter, False, False, authenticated, frozenset((carrier,)))
                contents.add(inner, inner_name, (attestation,))
    return contents.result()


def _nested(reported: Step, name: StepDigest) -> Iterator[tuple[Step, StepDigest, bytes]]:
    """All steps nested in the reported one: step, its digest, and the digest of the call whose answer contained it."""
    pending = [(reported, name.content)]
    while pending:
        outer, carrier = pending.pop()
        for step in outer.answer_steps:
            name = digest(step)
            yield step, name, carrier
            pending.append((step, name.content))


class _Contents:
    """The contents reported so far, by trace and step id: the first one, and its variants where reports disagree."""

    def __init__(self) -> None:
        self._records: list[StepRecord] = []
        self._first: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._variants: defaultdict[int, dict[bytes, StepRecord]] = defaultdict(dict)
        """By the index of the first content, then by digest."""
        self._texts = RequestTexts()
        self._duplicate = 0

    def add(self, step: Step, name: StepDigest, attestations: tuple[Attestation]) -> None:
        """Adds one attestation of a step."""
        first_indices = self._first[step.trace_id]
        first = first_indices.get(step.step_id)
        if first is not None and (known := self._known(first, name.content)) is not None:
            self._duplicate += _attest_again(known, attestations[0])
            return
        record = StepRecord.of(step, name, attestations)
        if first is None:
            first_indices[record.step_id] = len(self._records)
            self._records.append(record)
        else:
            self._variants[first][record.digest] = record
        call = step.agent_call
        if record.request_digest is not None and call is not None:
            self._texts.add([(bytes.fromhex(record.request_digest), call.requests or {})])

    def _known(self, first: int, digest: bytes) -> StepRecord | None:
        record = self._records[first]
        return record if record.digest == digest else self._variants[first].get(digest)

    def result(self) -> tuple[FoldedTrace, StepIndex]:
        """The accepted records, and their index."""
        conflicting, contested = self._settle() if self._variants else (0, {})
        texts = {key.hex(): text for key, text in self._texts.sample().items()}
        trace = FoldedTrace(self._records, texts, self._duplicate, conflicting)
        return trace, StepIndex(self._first, contested)

    def _settle(self) -> tuple[int, dict[int, int]]:
        """Puts accepted variants side by side. Returns the number of rejected attestations, and `contested`."""
        added, self._records = self._records, []
        conflicting = 0
        contested: dict[int, int] = {}
        for index, record in enumerate(added):
            accepted = [record]
            if index in self._variants:
                variants = [record, *self._variants[index].values()]
                conflicting += _reject_conflicting(variants)
                accepted = sorted((each for each in variants if each.attestations), key=attrgetter("digest"))
            first = len(self._records)
            self._first[record.trace_id][record.step_id] = first
            if not accepted:
                del self._first[record.trace_id][record.step_id]
            if len(accepted) > 1:
                contested[first] = len(accepted)
            self._records += accepted
        return conflicting, contested


def _attest_again(record: StepRecord, attestation: Attestation) -> bool:
    """Adds another attestation to a content. Returns whether its reporter had attested it before."""
    known = record.attestations
    again = any(each.reporter == attestation.reporter for each in known)
    if again:
        known = tuple(each.joined(attestation) if each.reporter == attestation.reporter else each for each in known)
    else:
        known = tuple(sorted((*known, attestation), key=attrgetter("reporter")))
    if known != record.attestations:
        record.attestations = known
    return again


def _reject_conflicting(variants: Iterable[StepRecord]) -> int:
    """Removes the attestations that are not accepted from the contents of one step. Returns how many."""
    by_reporter: defaultdict[str, list[tuple[StepRecord, Attestation]]] = defaultdict(list)
    for record in variants:
        for attestation in record.attestations:
            by_reporter[attestation.reporter].append((record, attestation))
        record.attestations = ()
    rejected = 0
    for reporter in sorted(by_reporter):
        rejected += len(by_reporter[reporter])
        for record, attestation in _accepted(by_reporter[reporter]):
            rejected -= 1
            record.attestations = (*record.attestations, attestation)
    return rejected


def _accepted(attested: list[tuple[StepRecord, Attestation]]) -> list[tuple[StepRecord, Attestation]]:
    """The accepted ones among the contents that one reporter attested for one step."""
    if len(attested) == 1:
        return attested
    if observed := [each for each in attested if each[1].observed]:
        return observed
    authenticated = [each for each in attested if each[1].authenticated]
    return authenticated if len(authenticated) == 1 else []
