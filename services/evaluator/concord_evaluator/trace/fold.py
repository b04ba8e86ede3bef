"""Folding: reports in any order, any number of times, into what is known of each step."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from concord.trace.digest import digest
from concord.trace.report import Channel, Report, StepDigest
from concord.trace.step import StepFacts
from concord_evaluator.trace.records import StepRecord, Telling
from concord_evaluator.trace.request_texts import RequestTexts

_OBSERVED: Final = Channel.OBSERVED


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """Every step that stands, with the tellings it stands on, and how many did not come to stand.

    `records`: those that share trace and step id side by side, sorted by their digests. `texts`: a sample of what was
    asked, by the digests of the requests, of all steps whether or not they stand.
    """

    records: Sequence[StepRecord]
    texts: Mapping[str, str]
    duplicate: int
    conflicting: int


@dataclass(frozen=True, slots=True)
class StepIndex:
    """Where the records of each step are. `first`: by trace and step id, the place of the first of them; `contested`:
    by that place how many there are, where there is more than one.
    """

    first: Mapping[str, Mapping[str, int]]
    contested: Mapping[int, int]

    def places_of(self, trace_id: str, step_id: str) -> Sequence[int]:
        """The places of all records of a step; none, if nobody told of it."""
        first = self.first[trace_id].get(step_id)
        if first is None:
            return ()
        return (first,) if first not in self.contested else range(first, first + self.contested[first])


def fold(reports: Iterable[Report]) -> tuple[FoldedTrace, StepIndex]:
    """Folds reports one by one, so that a trace is never held in its parsed form.

    Under one (trace id, reporter, step id), the same digest again is a duplicate. Different digests conflict: none of
    them stands, but what we saw ourselves, else the only one that is authenticated, which nobody else can have told.
    The result depends neither on the order of the reports nor on how often each came (but for the count of duplicates).
    """
    contents = _Contents()
    own: dict[tuple[str, bool, bool], tuple[Telling]] = {}
    """Each telling of a reporter's own steps, once."""
    for report in reports:
        step, reporter, authenticated, channel, _, name = report
        source = (reporter, channel is _OBSERVED, authenticated)
        tellings = own.get(source)
        if tellings is None:
            tellings = own[source] = (Telling(source[0], True, *source[1:]),)
        contents.tell(step, name, tellings)
        if step.answer_steps:
            for inner, inner_name, carrier in _nested(report):
                telling = Telling(reporter, False, False, authenticated, frozenset((carrier,)))
                contents.tell(inner, inner_name, (telling,))
    return contents.settled()


def _nested(report: Report) -> Iterator[tuple[StepFacts, StepDigest, bytes]]:
    """All steps nested in the report's, by their digests, each with the call in whose answer it came."""
    pending = [(report.step, report.digest.content)]
    while pending:
        outer, carrier = pending.pop()
        for step in outer.answer_steps:
            name = digest(step)
            yield step, name, carrier
            pending.append((step, name.content))


class _Contents:
    """What was told so far, by trace and step id: the first content, and its rivals where somebody contradicts it."""

    def __init__(self) -> None:
        self._records: list[StepRecord] = []
        self._first: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._rivals: defaultdict[int, dict[bytes, StepRecord]] = defaultdict(dict)
        """By the place of the first content."""
        self._texts = RequestTexts()
        self._duplicate = 0

    def tell(self, step: StepFacts, name: StepDigest, tellings: tuple[Telling]) -> None:
        """Adds one telling of a step."""
        places = self._first[step.trace_id]
        first = places.get(step.step_id)
        if first is not None and (known := self._known(first, name.content)) is not None:
            self._duplicate += _tell_again(known, tellings[0])
            return
        record = StepRecord.of(step, name, tellings)
        if first is None:
            places[record.step_id] = len(self._records)
            self._records.append(record)
        else:
            self._rivals[first][record.digest] = record
        if record.request_digest is not None:
            self._texts.add(record.request_digest, step)

    def _known(self, first: int, digest: bytes) -> StepRecord | None:
        record = self._records[first]
        return record if record.digest == digest else self._rivals[first].get(digest)

    def settled(self) -> tuple[FoldedTrace, StepIndex]:
        """What stands of it."""
        conflicting, contested = self._settle() if self._rivals else (0, {})
        trace = FoldedTrace(self._records, self._texts.sample(), self._duplicate, conflicting)
        return trace, StepIndex(self._first, contested)

    def _settle(self) -> tuple[int, dict[int, int]]:
        """Puts rivals side by side, without those that do not stand; returns how many these are, and who is left."""
        told, self._records = self._records, []
        conflicting = 0
        contested: dict[int, int] = {}
        for place, record in enumerate(told):
            standing = [record]
            if place in self._rivals:
                rivals = [record, *self._rivals[place].values()]
                conflicting += _let_stand(rivals)
                standing = sorted((each for each in rivals if each.tellings), key=attrgetter("digest"))
            first = len(self._records)
            self._first[record.trace_id][record.step_id] = first
            if not standing:
                del self._first[record.trace_id][record.step_id]
            if len(standing) > 1:
                contested[first] = len(standing)
            self._records += standing
        return conflicting, contested


def _tell_again(record: StepRecord, telling: Telling) -> bool:
    """Adds another telling to a content; returns whether its reporter had told it before."""
    known = record.tellings
    again = any(each.reporter == telling.reporter for each in known)
    if again:
        known = tuple(each.joined(telling) if each.reporter == telling.reporter else each for each in known)
    else:
        known = tuple(sorted((*known, telling), key=attrgetter("reporter")))
    if known != record.tellings:
        record.tellings = known
    return again


def _let_stand(rivals: Iterable[StepRecord]) -> int:
    """Takes those tellings from the contents of one step id that do not stand; returns how many."""
    by_reporter: defaultdict[str, list[tuple[StepRecord, Telling]]] = defaultdict(list)
    for record in rivals:
        for telling in record.tellings:
            by_reporter[telling.reporter].append((record, telling))
        record.tellings = ()
    told = 0
    for reporter in sorted(by_reporter):
        told += len(by_reporter[reporter])
        for record, telling in _standing(by_reporter[reporter]):
            told -= 1
            record.tellings = (*record.tellings, telling)
    return told


def _standing(variants: list[tuple[StepRecord, Telling]]) -> list[tuple[StepRecord, Telling]]:
    """What stands of the contents that one reporter told under one step id."""
    if len(variants) == 1:
        return variants
    if observed := [variant for variant in variants if variant[1].observed]:
        return observed
    authenticated = [variant for variant in variants if variant[1].authenticated]
    return authenticated if len(authenticated) == 1 else []
