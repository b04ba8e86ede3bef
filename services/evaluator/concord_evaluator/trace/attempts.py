"""Attempts of calls between agents: which are believed, and which the gateway's records refute."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from concord.assessment.results import MAX_STEP_IDS
from concord.trust.proxy_urls import is_proxy_url
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.agent_ids import participant_of
from concord_evaluator.trace.attribution import AttributedCalls
from concord_evaluator.trace.columns import Bytes, Codes, Flags, Names, Steps
from concord_evaluator.trace.provenance import PROVENANCES, Provenance
from concord_evaluator.trace.trees import Numbers

MAX_CLAIMS: Final = 1000
"""Distinct refuted claims that are told apart. All are counted."""

_OBSERVED, _CORROBORATED, _REPORTED = map(PROVENANCES.index, Provenance)


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

    def add(self, row: int, caller: str, callee: str, steps: Steps) -> None:
        """Counts a refuted claim in this row."""
        self.total += 1
        reporters = sorted(each.reporter for each in steps.attestations(row) if each.reporter != GREEN_AGENT)
        claim = Claim(participant_of(reporters[0]) if reporters else participant_of(caller), caller, callee)
        if claim not in self.counts and len(self.counts) >= MAX_CLAIMS:
            return
        self.counts[claim] = self.counts.get(claim, 0) + 1
        step_ids = self.step_ids.setdefault(claim, [])
        insort(step_ids, steps.step_id(row))
        del step_ids[MAX_STEP_IDS:]


@dataclass(frozen=True, slots=True)
class Attempts:
    """The believed attempts to call an agent, sorted by caller, callee and row.

    `row`: of the attempt's most credible content; `others`: by attempt, the rows of its further contents; `parent`: the
    row of the call that it was made in, or `ROOT`; `caller`, `callee`: codes of names; `provenance`: an index in
    `PROVENANCES`.
    """

    row: Numbers
    caller: Codes
    callee: Codes
    provenance: Bytes
    parent: Numbers
    others: Mapping[int, tuple[int, ...]]

    def __len__(self) -> int:
        return len(self.row)

    def only(self, chosen: Flags) -> "Attempts":
        """These attempts."""
        place = np.cumsum(chosen) - 1
        return Attempts(
            self.row[chosen],
            self.caller[chosen],
            self.callee[chosen],
            self.provenance[chosen],
            self.parent[chosen],
            {int(place[number]): rows for number, rows in self.others.items() if chosen[number]},
        )


class _Claimed(NamedTuple):
    """A call as one row states it."""

    position: int
    caller: str
    callee: str
    parent: int


def find_attempts(calls: AttributedCalls, steps: Steps) -> tuple[Attempts, Contradictions]:
    """Joins the contents of each attempt into one. Returns also the claims that observations refute.

    A callee that reported steps under a call corroborates the call.
    """
    number = steps.columns.step[calls.row]
    alone = (np.bincount(number, minlength=1) == 1)[number]
    contradicted = Contradictions()
    joined = list(_joined(calls, ~alone, steps, contradicted))
    code = steps.names.code
    row = np.append(calls.row[alone], np.array([each[0].position for each in joined], np.int64))
    caller = np.append(calls.caller[alone], np.array([code(each[0].caller) for each in joined], np.int32))
    callee = np.append(calls.callee[alone], np.array([code(each[0].callee) for each in joined], np.int32))
    parent = np.append(calls.parent[alone], np.array([each[0].parent for each in joined], np.int64))
    order = np.lexsort((row, steps.names.ranks(callee), steps.names.ranks(caller)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first = int(alone.sum())
    others = {
        int(place[first + each]): tuple([call.position for call in believed[1:]])
        for each, believed in enumerate(joined)
        if len(believed) > 1
    }
    provenance = _provenance(row, caller, callee, steps)
    return Attempts(row[order], caller[order], callee[order], provenance[order], parent[order], others), contradicted


def _provenance(row: Numbers, caller: Codes, callee: Codes, steps: Steps) -> Bytes:
    names = steps.names
    ends = np.union1d(caller, callee).tolist()
    participants = {code: names.code(participant_of(names.texts[code])) for code in ends}
    participant = np.zeros(len(names.texts), np.int64)
    participant[list(participants)] = list(participants.values())
    asked = np.column_stack([steps.columns.step[row].astype(np.int64), participant[callee]])
    told = _told_below(steps)
    corroborated = (participant[caller] != participant[callee]) & np.isin(
        asked[:, 0] * len(names.texts) + asked[:, 1], told[:, 0] * len(names.texts) + told[:, 1]
    )
    found = np.where(corroborated, _CORROBORATED, _REPORTED)
    return np.where(steps.of_sources("observed")[row], _OBSERVED, found).astype(np.int8)


def _told_below(steps: Steps) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Pairs of the number of a step and the code of a direct reporter of a step below it."""
    columns, code = steps.columns, steps.names.code
    below = columns.parent >= 0
    pairs = np.unique(np.stack([columns.parent[below], columns.source[below]], axis=1), axis=0)
    reporters = [[code(each.reporter) for each in source if each.direct] for source in steps.sources]
    times = np.array([len(each) for each in reporters], np.int64)[pairs[:, 1]]
    told = [reporter for source in pairs[:, 1].tolist() for reporter in reporters[source]]
    return np.column_stack([np.repeat(pairs[:, 0].astype(np.int64), times), np.array(told, np.int64)])


def _joined(
    calls: AttributedCalls, contested: Flags, steps: Steps, contradicted: Contradictions
) -> Iterator[list[_Claimed]]:
    """The believed contents of each attempt among those steps of which several agents or contents tell, the most
    credible first."""
    chosen = np.flatnonzero(contested)
    names = steps.names.texts
    claimed = [
        _Claimed(row, names[caller], names[callee], parent)
        for row, caller, callee, parent in zip(
            *(each[chosen].tolist() for each in (calls.row, calls.caller, calls.callee, calls.parent)), strict=True
        )
    ]
    observed = steps.of_sources("observed") if claimed else np.zeros(0, np.bool_)
    direct = steps.of_sources("direct") if claimed else np.zeros(0, np.bool_)
    for _, group in groupby(claimed, key=lambda call: steps.columns.step[call.position]):
        for caller, variants in _by_caller(list(group)).items():
            believed_by_callee = _believed(variants, observed, direct)
            by_digest = sorted(variants, key=lambda call: steps.digests.get(call.position, b""))
            refuted = {call.callee: call for call in by_digest if call.callee not in believed_by_callee}
            for callee, call in sorted(refuted.items()):
                contradicted.add(call.position, caller, callee, steps)
            for believed in believed_by_callee.values():
                yield [believed[0]._replace(caller=caller), *believed[1:]]


def _by_caller(variants: list[_Claimed]) -> Mapping[str, list[_Claimed]]:
    """Groups the variants of one step by caller.

    An outside observer sees only the participant. If an agent inside the participant claims the call, it is the caller.
    """
    callers = sorted(call.caller for call in variants)
    inner_agents = {participant_of(caller): caller for caller in callers if participant_of(caller) != caller}
    by_caller: defaultdict[str, list[_Claimed]] = defaultdict(list)
    for call in variants:
        by_caller[inner_agents.get(call.caller, call.caller)].append(call)
    return by_caller


def _believed(claimed: list[_Claimed], observed: Flags, direct: Flags) -> Mapping[str, list[_Claimed]]:
    """The believed variants of a call by callee, the most credible first. Observations override all other claims."""
    seen = {call.callee for call in claimed if observed[call.position]}
    believed: defaultdict[str, list[_Claimed]] = defaultdict(list)
    for call in sorted(
        claimed, key=lambda call: (not observed[call.position], not direct[call.position], call.position)
    ):
        if not seen or call.callee in seen:
            believed[call.callee].append(call)
    return believed


def without_refuted(attempts: Attempts, steps: Steps, roster: Roster, refuted: Contradictions) -> Attempts:
    """The attempts that an observed trace allows, in their order. The others go to `refuted`.

    All calls between participants pass the proxy, so a claimed call that the gateway did not observe did not happen,
    unless it names an address that is not the proxy's. Two kinds of claims are dropped without a charge. The gateway
    may have observed the call under another id: between two participants, each observed call that has no claim of its
    own excuses one claim. And a failed call may have failed before it reached the gateway.
    """
    names, columns = steps.names, steps.columns
    observed = attempts.provenance == _OBSERVED
    unclaimed = Counter(
        _ends(number, attempts, names) for number in np.flatnonzero(observed).tolist() if number not in attempts.others
    )
    allowed = np.ones(len(attempts), np.bool_)
    for number in sorted(np.flatnonzero(~observed).tolist(), key=lambda number: _key(number, attempts, steps)):
        ends, row = _ends(number, attempts, names), int(attempts.row[number])
        if not _should_have_been_observed(*ends, names.texts[columns.callee_url[row]], roster):
            continue
        allowed[number] = False
        if unclaimed[ends]:
            unclaimed[ends] -= 1
        elif not columns.failed[row]:
            caller, callee = names.texts[attempts.caller[number]], names.texts[attempts.callee[number]]
            refuted.add(row, caller, callee, steps)
    return attempts.only(allowed)


def _key(number: int, attempts: Attempts, steps: Steps) -> tuple[str, str, str, str]:
    names, row = steps.names.texts, int(attempts.row[number])
    return names[attempts.caller[number]], names[attempts.callee[number]], steps.trace_id(row), steps.step_id(row)


def _should_have_been_observed(caller: str, callee: str, url: str, roster: Roster) -> bool:
    if caller == callee or caller not in roster or callee not in roster:
        return False
    return not url or is_proxy_url(url)


def _ends(number: int, attempts: Attempts, names: Names) -> tuple[str, str]:
    return participant_of(names.texts[attempts.caller[number]]), participant_of(names.texts[attempts.callee[number]])
