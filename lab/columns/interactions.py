"""Interactions: the calls between agents, each logical call once, with its provenance."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, NamedTuple

from concord.trace.attributes import EdgeKind, KnownBy, Support
from lab.columns.records import StepRecord


class Provenance(StrEnum):
    """Why a call is believed: the gateway observed it, both ends reported it, or one end did."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


class Call(NamedTuple):
    """One attempt to call an agent. `parent`: the index, in causal order, of the call that the attempt was made in.

    Only calls whose provenance counts are in causal order and have a parent there.
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
        """The calling agent."""
        return self[0].caller

    @property
    def callee(self) -> str:
        """The called agent."""
        return self[0].callee

    @property
    def step_ids(self) -> tuple[str, ...]:
        """The step ids of the attempts, sorted."""
        return tuple(attempt.record.step_id for attempt in self)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the least trusted attempt."""
        return (
            max([attempt.provenance for attempt in self], key=_DOUBT.__getitem__)
            if len(self) > 1
            else self[0].provenance
        )

    @property
    def kind(self) -> EdgeKind:
        """How the call connects its agents."""
        return self[0].record.edge_kind

    @property
    def known_by(self) -> KnownBy | None:
        """What spans tell the call by. None for a call that was reported as one."""
        return self[0].record.known_by

    @property
    def support(self) -> Support | None:
        """What a second source in the spans says. None for a call that was reported as one."""
        return self[0].record.support

    @property
    def request_digest(self) -> str | None:
        """The digest of the request. None where unknown."""
        return self[0].record.request_digest

    @property
    def failed(self) -> bool:
        """Whether every attempt failed. A failed call has no reply."""
        return None not in [attempt.record.error for attempt in self]


@dataclass(frozen=True)
class LinkCalls:
    """The logical calls of one agent to another, at least one. Derived figures are computed once."""

    calls: Sequence[Interaction]

    @cached_property
    def failed(self) -> int:
        """The number of calls that failed."""
        return sum([call.failed for call in self.calls])

    @cached_property
    def attempts(self) -> int:
        """The number of attempts."""
        return sum(map(len, self.calls))

    @cached_property
    def failed_attempts(self) -> int:
        """The number of attempts with an error."""
        return sum([attempt.record.error is not None for attempt in chain.from_iterable(self.calls)])

    @cached_property
    def retries(self) -> int:
        """The number of attempts that repeat another one."""
        return sum([attempt.record.retry_of is not None for attempt in chain.from_iterable(self.calls)])

    @cached_property
    def latencies_ms(self) -> Sequence[float]:
        """The known latencies of all attempts (ms), sorted."""
        attempts = chain.from_iterable(self.calls)
        return sorted([ms for attempt in attempts if (ms := attempt.record.latency_ms) is not None])

    @property
    def requests(self) -> list[str]:
        """The digests of the requests that are known."""
        return [digest for call in self.calls if (digest := call.request_digest) is not None]


Links = Mapping[Link, LinkCalls]
"""The calls of each caller to each callee, sorted by caller and callee."""


def calls_on(links: Links) -> Iterator[Interaction]:
    """All calls, sorted by caller and callee."""
    return chain.from_iterable(link.calls for link in links.values())


def join_attempts(calls: Iterable[Call]) -> Links:
    """Joins attempts (given sorted by link, trace and step id) into logical calls.

    A retry names the attempt that it repeats (`retry_of`) and has the same caller and callee. Both are attempts at one
    call.
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
    """By step id, the first attempt of its call. Nobody may have reported that attempt."""
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
