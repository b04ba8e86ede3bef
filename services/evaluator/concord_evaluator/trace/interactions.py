"""Interactions: the calls between agents, each logical call once, with where the knowledge of it comes from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from concord_evaluator.trace.attribution import MadeCall
from concord_evaluator.trace.names import participant_of
from concord_evaluator.trace.records import StepRecord


class Provenance(StrEnum):
    """Why a call is believed: we saw it, both of its ends told of it, or one end did."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt to call an agent, where it stands; `parent`: the index, in causal order, of the call it was made in.

    Only calls whose provenance counts are in causal order, and have a parent there.
    """

    caller: str
    callee: str
    record: StepRecord
    provenance: Provenance
    parent: int | None

    @property
    def step_id(self) -> str:
        """The id by which both ends know the call."""
        return self.record.step_id


_OBSERVED, _CORROBORATED, _REPORTED = Provenance
_TRUST = {provenance: rank for rank, provenance in enumerate(Provenance)}


Link = tuple[str, str]
"""A caller and a callee."""


class Interaction(tuple[Call, ...]):
    """One logical call: the attempts at it, at least one, in the order of their step ids."""

    __slots__ = ()

    @property
    def caller(self) -> str:
        """Who called."""
        return self[0].caller

    @property
    def callee(self) -> str:
        """Who was called."""
        return self[0].callee

    @property
    def step_ids(self) -> tuple[str, ...]:
        """The attempts by their step ids, sorted."""
        return tuple(attempt.record.step_id for attempt in self)

    @property
    def retries(self) -> int:
        """Attempts that repeat another."""
        return sum([attempt.record.retry_of is not None for attempt in self])

    @property
    def failed_attempts(self) -> int:
        """Attempts that say that something went wrong."""
        return sum([attempt.record.error is not None for attempt in self])

    @property
    def latencies_ms(self) -> tuple[float, ...]:
        """The latencies of the attempts, where known (milliseconds), sorted."""
        return tuple(sorted([ms for attempt in self if (ms := attempt.record.latency_ms) is not None]))

    @property
    def provenance(self) -> Provenance:
        """Why the call is believed: no more than the least trusted of its attempts."""
        return (
            max([attempt.provenance for attempt in self], key=_TRUST.__getitem__)
            if len(self) > 1
            else self[0].provenance
        )

    @property
    def request_digest(self) -> str | None:
        """Names what was asked."""
        return self[0].record.request_digest

    @property
    def attempts(self) -> int:
        """How often the call was made."""
        return len(self)

    @property
    def failed(self) -> bool:
        """Whether no attempt succeeded. Such a call has no reply."""
        return None not in [attempt.record.error for attempt in self]


class Attempt(NamedTuple):
    """One attempt to call an agent, as it is believed.

    `places`: of the records that tell of it, `record` the first of them; `above`: of the call that it was made in.
    """

    caller: str
    callee: str
    record: StepRecord
    provenance: Provenance
    places: tuple[int, ...]
    above: int | None


@dataclass(frozen=True, slots=True)
class Claims:
    """The attempts that are believed, sorted by edge and step id, and how many claims were refuted by what was seen."""

    attempts: list[Attempt]
    contradicted: int


def find_attempts(
    calls: Iterable[MadeCall], records: Sequence[StepRecord], answered_by: Mapping[str, Mapping[str, frozenset[str]]]
) -> Claims:
    """Joins the tellings of each attempt into one.

    `answered_by` says who told of steps made under a call: the callee itself among them corroborates the call.
    """
    links: defaultdict[tuple[str, str], list[Attempt]] = defaultdict(list)
    contradicted = 0
    for rivals in _by_step(calls, records):
        if len(rivals) == 1:
            (only,) = rivals
            links[only.maker, only.callee].append(_attempt(only.maker, rivals, records, answered_by))
            continue
        for maker, told in _by_maker(rivals).items():
            upheld = _upheld(told, records)
            contradicted += len({call.callee for call in told}) - len(upheld)
            for callee, believed in upheld.items():
                links[maker, callee].append(_attempt(maker, believed, records, answered_by))
    for attempts in links.values():
        attempts.sort(key=lambda attempt: (attempt.record.trace_id, attempt.record.step_id))
    return Claims([attempt for link in sorted(links) for attempt in links[link]], contradicted)


def _by_step(calls: Iterable[MadeCall], records: Sequence[StepRecord]) -> Iterator[list[MadeCall]]:
    """The calls that are told of one step: their records stand side by side."""
    rivals: list[MadeCall] = []
    for call in sorted(calls, key=itemgetter(0)):
        if rivals and not records[call.place].is_rival_of(records[rivals[0].place]):
            yield rivals
            rivals = []
        rivals.append(call)
    if rivals:
        yield rivals


def _by_maker(rivals: list[MadeCall]) -> Mapping[str, list[MadeCall]]:
    """The same by who made them.

    Who sees a call from outside sees the participant only: it was the agent inside it that tells of the call, if any.
    """
    makers = sorted(call.maker for call in rivals)
    insiders = {participant_of(maker): maker for maker in makers if participant_of(maker) != maker}
    by_maker: defaultdict[str, list[MadeCall]] = defaultdict(list)
    for call in rivals:
        by_maker[insiders.get(call.maker, call.maker)].append(call)
    return by_maker


def _upheld(told: list[MadeCall], records: Sequence[StepRecord]) -> Mapping[str, list[MadeCall]]:
    """The claims for each callee of a call, the one to believe first.

    Where the call was observed, only what was observed counts.
    """
    seen = {call.callee for call in told if records[call.place].observed}
    believed: defaultdict[str, list[MadeCall]] = defaultdict(list)
    for call in sorted(told, key=lambda call: _doubt(call, records)):
        if not seen or call.callee in seen:
            believed[call.callee].append(call)
    return believed


def _doubt(call: MadeCall, records: Sequence[StepRecord]) -> tuple[bool, bool, int]:
    record = records[call.place]
    return (not record.observed, not record.direct, call.place)


def _attempt(
    maker: str,
    believed: list[MadeCall],
    records: Sequence[StepRecord],
    answered_by: Mapping[str, Mapping[str, frozenset[str]]],
) -> Attempt:
    first = believed[0]
    record, answering = records[first.place], participant_of(first.callee)
    provenance = _REPORTED
    if record.observed:
        provenance = _OBSERVED
    elif answering != participant_of(maker) and answering in answered_by[record.trace_id].get(record.step_id, ()):
        provenance = _CORROBORATED
    return Attempt(
        caller=maker,
        callee=first.callee,
        record=record,
        provenance=provenance,
        places=tuple(call.place for call in believed),
        above=first.above,
    )


def by_link(calls: Iterable[Interaction]) -> Iterator[tuple[Link, list[Interaction]]]:
    """The calls of each caller to each callee, of calls that are sorted by these."""
    return ((link, list(group)) for link, group in groupby(calls, key=lambda call: (call[0].caller, call[0].callee)))


def join_attempts(calls: Iterable[Call]) -> Iterator[Interaction]:
    """The logical calls, sorted: repeated attempts (given sorted by edge and step id) joined into one call.

    A repetition names the attempt that it repeats (`retry_of`) and has the same caller and callee; together they are
    one call, which failed only if every attempt did.
    """
    for _, group in groupby(calls, key=lambda call: (call.caller, call.callee, call.record.trace_id)):
        attempts = list(group)
        if all(attempt.record.retry_of is None for attempt in attempts):
            yield from (Interaction((attempt,)) for attempt in attempts)
        else:
            yield from _joined(attempts)


def _joined(attempts: Sequence[Call]) -> Iterator[Interaction]:
    first = _first_attempts({attempt.step_id: attempt.record.retry_of for attempt in attempts})
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    for attempt in attempts:
        calls[first[attempt.step_id]].append(attempt)
    return (Interaction(calls[name]) for name in sorted(calls))


def _first_attempts(repeats: Mapping[str, str | None]) -> dict[str, str]:
    """By step id, the first attempt of its call, which may be one that nobody reported."""
    first: dict[str, str] = {}
    for step_id in repeats:
        chain: dict[str, None] = {}
        current = step_id
        while current not in first and current not in chain:
            chain[current] = None
            current = repeats.get(current) or current
        root = first.get(current, current)
        first.update(dict.fromkeys(chain, root))
    return first
