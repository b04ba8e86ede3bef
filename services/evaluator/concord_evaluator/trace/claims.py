"""Claims of calls between agents: which are believed, and which the gateway's records refute."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from concord.assessment.roster import GREEN_AGENT, Roster
from concord.trust.proxy_urls import is_proxy_url
from concord_evaluator.trace.agent_ids import participant_of
from concord_evaluator.trace.attribution import MadeCall
from concord_evaluator.trace.interactions import Link, Provenance
from concord_evaluator.trace.records import StepRecord

MAX_KINDS: Final = 1000
"""Different claims that are told apart; all are counted."""

MAX_STEP_IDS: Final = 20


class Claim(NamedTuple):
    """What a participant told: that one agent called another."""

    teller: str
    caller: str
    callee: str


@dataclass(slots=True)
class Contradictions:
    """Refuted claims, counted; `step_ids`: the first of the steps that make each."""

    total: int = 0
    counts: dict[Claim, int] = field(default_factory=dict)
    step_ids: dict[Claim, list[str]] = field(default_factory=dict)

    def add(self, record: StepRecord, caller: str, callee: str) -> None:
        """Counts a claim that a call took place."""
        self.total += 1
        tellers = sorted(telling.reporter for telling in record.tellings if telling.reporter != GREEN_AGENT)
        claim = Claim(participant_of(tellers[0]) if tellers else participant_of(caller), caller, callee)
        if claim not in self.counts and len(self.counts) >= MAX_KINDS:
            return
        self.counts[claim] = self.counts.get(claim, 0) + 1
        steps = self.step_ids.setdefault(claim, [])
        insort(steps, record.step_id)
        del steps[MAX_STEP_IDS:]


_OBSERVED, _CORROBORATED, _REPORTED = Provenance


class Attempt(NamedTuple):
    """One attempt to call an agent, as it is believed.

    `place`: of its record; `others`: of further records that tell of it; `above`: of the call that it was made in, or
    `ROOT`.
    """

    caller: str
    callee: str
    record: StepRecord
    provenance: Provenance
    place: int
    others: tuple[int, ...]
    above: int


@dataclass(frozen=True, slots=True)
class Claims:
    """The attempts that are believed, sorted by edge and step id, and the claims that what was seen refutes."""

    attempts: list[Attempt]
    contradicted: Contradictions


def find_attempts(
    calls: Iterable[MadeCall], records: Sequence[StepRecord], answered_by: Mapping[str, Mapping[str, frozenset[str]]]
) -> Claims:
    """Joins the tellings of each attempt into one.

    `answered_by` says who told of steps made under a call: the callee itself among them corroborates the call.
    """
    links: defaultdict[Link, list[Attempt]] = defaultdict(list)
    contradicted = Contradictions()
    for rivals in _by_step(calls, records):
        if len(rivals) == 1:
            (only,) = rivals
            links[only.maker, only.callee].append(_attempt(only.maker, rivals, records, answered_by))
            continue
        for maker, told in _by_maker(rivals).items():
            upheld = _upheld(told, records)
            by_digest = sorted(told, key=lambda call: records[call.place].digest)
            refuted = {call.callee: call for call in by_digest if call.callee not in upheld}
            for callee, call in sorted(refuted.items()):
                contradicted.add(records[call.place], maker, callee)
            for callee, believed in upheld.items():
                links[maker, callee].append(_attempt(maker, believed, records, answered_by))
    for attempts in links.values():
        attempts.sort(key=lambda attempt: (attempt.record.trace_id, attempt.record.step_id))
    return Claims([attempt for link in sorted(links) for attempt in links[link]], contradicted)


def _by_step(calls: Iterable[MadeCall], records: Sequence[StepRecord]) -> Iterator[list[MadeCall]]:
    """The calls that are told of one step: their records stand side by side."""
    rivals: list[MadeCall] = []
    for call in sorted(calls, key=attrgetter("place")):
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
        place=first.place,
        others=tuple([call.place for call in believed[1:]]),
        above=first.above,
    )


def without_refuted(attempts: Iterable[Attempt], roster: Roster, refuted: Contradictions) -> list[Attempt]:
    """The attempts (given sorted) that stand in an observed trace, in their order; the others go to `refuted`.

    A claimed call of one participant by another that nobody saw is no call, unless it names an address past the
    proxy, where we do not see. As many claims as calls were seen between the two that nobody told of under their own
    ids are these calls, told under others: they are left out without a charge. So is a failed call, which may have
    failed on its way to us: nothing is known of it, and nobody gains by it.
    """
    attempts = list(attempts)
    untold = Counter(
        _ends(attempt) for attempt in attempts if attempt.provenance is Provenance.OBSERVED and not attempt.others
    )
    standing: list[Attempt] = []
    for attempt in attempts:
        if not _should_have_been_seen(attempt, roster):
            standing.append(attempt)
        elif untold[_ends(attempt)]:
            untold[_ends(attempt)] -= 1
        elif not attempt.record.failed:
            refuted.add(attempt.record, attempt.caller, attempt.callee)
    return standing


def _should_have_been_seen(attempt: Attempt, roster: Roster) -> bool:
    caller, callee = _ends(attempt)
    if attempt.provenance is Provenance.OBSERVED or caller == callee or caller not in roster or callee not in roster:
        return False
    return not attempt.record.callee_url or is_proxy_url(attempt.record.callee_url)


def _ends(attempt: Attempt) -> tuple[str, str]:
    return participant_of(attempt.caller), participant_of(attempt.callee)
