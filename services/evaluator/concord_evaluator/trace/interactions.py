"""Interactions: the calls between agents, each logical call once, with where the knowledge of it comes from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

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


Link = tuple[str, str]
"""A caller and a callee."""

_DOUBT: Final = {provenance: rank for rank, provenance in enumerate(Provenance)}


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
        known = [ms for attempt in self if (ms := attempt.record.latency_ms) is not None]
        return tuple(sorted(known) if len(known) > 1 else known)

    @property
    def provenance(self) -> Provenance:
        """Why the call is believed: no more than the least trusted of its attempts."""
        return (
            max([attempt.provenance for attempt in self], key=_DOUBT.__getitem__)
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
