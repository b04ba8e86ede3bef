"""Interactions: the calls between agents, each logical call once, with where the knowledge of it comes from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, NamedTuple

from concord_evaluator.trace.records import StepRecord


class Provenance(StrEnum):
    """Why a call is believed: we saw it, both of its ends told of it, or one end did."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


class Call(NamedTuple):
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
    def failed(self) -> bool:
        """Whether no attempt succeeded. Such a call has no reply."""
        return None not in [attempt.record.error for attempt in self]


@dataclass(frozen=True)
class LinkCalls:
    """The logical calls of one agent to another, at least one. What several ask of them is worked out once."""

    calls: Sequence[Interaction]

    @cached_property
    def failed(self) -> int:
        """Calls that failed."""
        return sum([call.failed for call in self.calls])

    @cached_property
    def attempts(self) -> int:
        """Attempts at all of them."""
        return sum(map(len, self.calls))

    @cached_property
    def failed_attempts(self) -> int:
        """Attempts that say that something went wrong."""
        return sum([attempt.record.error is not None for attempt in chain.from_iterable(self.calls)])

    @cached_property
    def retries(self) -> int:
        """Attempts that repeat another."""
        return sum([attempt.record.retry_of is not None for attempt in chain.from_iterable(self.calls)])

    @cached_property
    def latencies_ms(self) -> Sequence[float]:
        """The latencies of all attempts, where known (milliseconds), sorted."""
        attempts = chain.from_iterable(self.calls)
        return sorted([ms for attempt in attempts if (ms := attempt.record.latency_ms) is not None])

    @property
    def requests(self) -> list[str]:
        """The requests of those calls that say what they ask, by their digests."""
        return [digest for call in self.calls if (digest := call.request_digest) is not None]


Links = Mapping[Link, LinkCalls]
"""The calls of each caller to each callee, sorted by these."""


def calls_on(links: Links) -> Iterator[Interaction]:
    """All calls, sorted by caller and callee."""
    return chain.from_iterable(link.calls for link in links.values())


def join_attempts(calls: Iterable[Call]) -> Links:
    """The logical calls: repeated attempts (given sorted by edge, trace and step id) joined into one call.

    A repetition names the attempt that it repeats (`retry_of`) and has the same caller and callee; together they are
    one call, which failed only if every attempt did.
    """
    return {link: LinkCalls(_logical(list(group))) for link, group in groupby(calls, key=itemgetter(0, 1))}


def _logical(attempts: Sequence[Call]) -> tuple[Interaction, ...]:
    if all(attempt.record.retry_of is None for attempt in attempts):
        return tuple([Interaction((attempt,)) for attempt in attempts])
    traces = groupby(attempts, key=lambda attempt: attempt.record.trace_id)
    return tuple(call for _, group in traces for call in _joined(list(group)))


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
