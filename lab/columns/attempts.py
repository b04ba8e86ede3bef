"""FoundAttempts of calls between agents: which are believed, and which the gateway's records refute."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from concord.assessment.results import MAX_STEP_IDS
from concord.trace.attributes import KnownBy, Support
from concord.trust.proxy_urls import is_proxy_url
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.attribution import participant_of
from lab.columns.attribution import AttributedCall
from lab.columns.interactions import Link, Provenance
from lab.columns.records import StepRecord

MAX_CLAIMS: Final = 1000
"""Distinct refuted claims that are told apart. All are counted."""

_OBSERVED, _CORROBORATED, _REPORTED = Provenance


class Claim(NamedTuple):
    """A participant's claim that one agent called another."""

    reporter: str
    caller: str
    callee: str


@dataclass(slots=True)
class Contradictions:
    """Refuted claims, counted. `step_ids`: by claim, the first of the steps that make it."""

    total: int = 0
    counts: dict[Claim, int] = field(default_factory=dict)
    step_ids: dict[Claim, list[str]] = field(default_factory=dict)

    def add(self, record: StepRecord, caller: str, callee: str) -> None:
        """Counts a refuted claim."""
        self.total += 1
        reporters = sorted(each.reporter for each in record.attestations if each.reporter != GREEN_AGENT)
        claim = Claim(participant_of(reporters[0]) if reporters else participant_of(caller), caller, callee)
        if claim not in self.counts and len(self.counts) >= MAX_CLAIMS:
            return
        self.counts[claim] = self.counts.get(claim, 0) + 1
        steps = self.step_ids.setdefault(claim, [])
        insort(steps, record.step_id)
        del steps[MAX_STEP_IDS:]


class Attempt(NamedTuple):
    """One believed attempt to call an agent.

    `position`: of its record; `others`: of further records of it; `parent`: of the call that it was made in, or
    `ROOT`.
    """

    caller: str
    callee: str
    record: StepRecord
    provenance: Provenance
    position: int
    others: tuple[int, ...]
    parent: int


@dataclass(frozen=True, slots=True)
class FoundAttempts:
    """The believed attempts, sorted by link and step id, and the claims that observations refute."""

    attempts: list[Attempt]
    contradicted: Contradictions


def find_attempts(
    calls: Iterable[AttributedCall],
    records: Sequence[StepRecord],
    child_reporters: Mapping[str, Mapping[str, frozenset[str]]],
) -> FoundAttempts:
    """Joins the records of each attempt into one.

    `child_reporters`: as from `step_reporters`. A callee that reported steps under a call corroborates the call.
    """
    links: defaultdict[Link, list[Attempt]] = defaultdict(list)
    contradicted = Contradictions()
    for variants in _by_step(calls, records):
        if len(variants) == 1:
            (only,) = variants
            links[only.caller, only.callee].append(_attempt(only.caller, variants, records, child_reporters))
            continue
        for caller, claimed in _by_caller(variants).items():
            believed_by_callee = _believed(claimed, records)
            by_digest = sorted(claimed, key=lambda call: records[call.position].digest)
            refuted = {call.callee: call for call in by_digest if call.callee not in believed_by_callee}
            for callee, call in sorted(refuted.items()):
                contradicted.add(records[call.position], caller, callee)
            for callee, believed in believed_by_callee.items():
                links[caller, callee].append(_attempt(caller, believed, records, child_reporters))
    for attempts in links.values():
        attempts.sort(key=lambda attempt: (attempt.record.trace_id, attempt.record.step_id))
    return FoundAttempts([attempt for link in sorted(links) for attempt in links[link]], contradicted)


def _by_step(calls: Iterable[AttributedCall], records: Sequence[StepRecord]) -> Iterator[list[AttributedCall]]:
    """Groups the calls by step. The records of one step are adjacent."""
    variants: list[AttributedCall] = []
    for call in sorted(calls, key=attrgetter("position")):
        if variants and not records[call.position].is_variant_of(records[variants[0].position]):
            yield variants
            variants = []
        variants.append(call)
    if variants:
        yield variants


def _by_caller(variants: list[AttributedCall]) -> Mapping[str, list[AttributedCall]]:
    """Groups the variants of one step by caller.

    An outside observer sees only the participant. If an agent inside the participant claims the call, it is the caller.
    """
    callers = sorted(call.caller for call in variants)
    inner_agents = {participant_of(caller): caller for caller in callers if participant_of(caller) != caller}
    by_caller: defaultdict[str, list[AttributedCall]] = defaultdict(list)
    for call in variants:
        by_caller[inner_agents.get(call.caller, call.caller)].append(call)
    return by_caller


def _believed(claimed: list[AttributedCall], records: Sequence[StepRecord]) -> Mapping[str, list[AttributedCall]]:
    """The believed variants of a call by callee, the most credible first. Observations override all other claims."""
    observed = {call.callee for call in claimed if records[call.position].observed}
    believed: defaultdict[str, list[AttributedCall]] = defaultdict(list)
    for call in sorted(claimed, key=lambda call: _doubt(call, records)):
        if not observed or call.callee in observed:
            believed[call.callee].append(call)
    return believed


def _doubt(call: AttributedCall, records: Sequence[StepRecord]) -> tuple[bool, bool, int]:
    record = records[call.position]
    return (not record.observed, not record.direct, call.position)


def _is_inferred(record: StepRecord) -> bool:
    return record.known_by is KnownBy.TIME and record.support is not Support.CONFIRMED


def _attempt(
    caller: str,
    believed: list[AttributedCall],
    records: Sequence[StepRecord],
    child_reporters: Mapping[str, Mapping[str, frozenset[str]]],
) -> Attempt:
    first = believed[0]
    record, callee = records[first.position], participant_of(first.callee)
    provenance = _REPORTED
    if record.observed:
        provenance = _OBSERVED
    elif callee != participant_of(caller) and callee in child_reporters[record.trace_id].get(record.step_id, ()):
        provenance = _REPORTED if _is_inferred(record) else _CORROBORATED
    return Attempt(
        caller=caller,
        callee=first.callee,
        record=record,
        provenance=provenance,
        position=first.position,
        others=tuple([call.position for call in believed[1:]]),
        parent=first.parent,
    )


def without_refuted(attempts: Iterable[Attempt], roster: Roster, refuted: Contradictions) -> list[Attempt]:
    """The attempts (given sorted) that an observed trace allows, in their order. The others go to `refuted`.

    All calls between participants pass the proxy, so a claimed call that the gateway did not observe did not happen,
    unless it names an address that is not the proxy's. Two kinds of claims are dropped without a charge. The gateway
    may have observed the call under another id: between two participants, each observed call that has no claim of its
    own excuses one claim. And a failed call may have failed before it reached the gateway.
    """
    attempts = list(attempts)
    unclaimed = Counter(
        _ends(attempt) for attempt in attempts if attempt.provenance is Provenance.OBSERVED and not attempt.others
    )
    allowed: list[Attempt] = []
    for attempt in attempts:
        if not _should_have_been_observed(attempt, roster):
            allowed.append(attempt)
        elif unclaimed[_ends(attempt)]:
            unclaimed[_ends(attempt)] -= 1
        elif not attempt.record.failed:
            refuted.add(attempt.record, attempt.caller, attempt.callee)
    return allowed


def _should_have_been_observed(attempt: Attempt, roster: Roster) -> bool:
    caller, callee = _ends(attempt)
    if attempt.provenance is Provenance.OBSERVED or caller == callee or caller not in roster or callee not in roster:
        return False
    return not attempt.record.callee_url or is_proxy_url(attempt.record.callee_url)


def _ends(attempt: Attempt) -> tuple[str, str]:
    return participant_of(attempt.caller), participant_of(attempt.callee)
