"""Attempts of calls between agents: which are believed, and which the gateway's records refute."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from concord.assessment.results import MAX_STEP_IDS
from concord.trust.proxy_urls import is_proxy_url
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.attribution import AttributedCalls, participant_of
from concord_evaluator.trace.columns import NEVER, Bytes, Codes, Flags, Names, Steps, cases, changes
from concord_evaluator.trace.trees import ROOT, Numbers, compact, largest_above, nearest, ordered

# Provenance: why a call is believed.


class Provenance(StrEnum):
    """Why a call is believed: the gateway observed it, both ends reported it, or one end did."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


PROVENANCES: Final = tuple(Provenance)
"""The members by their codes in columns, from the most trusted one to the least."""


# Attempts: reports of one call.

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

    `row`: of the attempt's most credible content; `caller`, `callee`: codes of names; `provenance`: an index in
    `PROVENANCES`; `parent`: the row of the call that it was made in, or `ROOT`. `other_row`, `attempt_of_other`: the
    rows of further contents, and the number of the attempt that each belongs to.
    """

    row: Numbers
    caller: Codes
    callee: Codes
    provenance: Bytes
    parent: Numbers
    other_row: Numbers
    attempt_of_other: Numbers

    def __len__(self) -> int:
        return len(self.row)

    def only(self, chosen: Flags) -> "Attempts":
        """These attempts."""
        place, kept = np.cumsum(chosen) - 1, chosen[self.attempt_of_other]
        return Attempts(
            self.row[chosen],
            self.caller[chosen],
            self.callee[chosen],
            self.provenance[chosen],
            self.parent[chosen],
            self.other_row[kept],
            place[self.attempt_of_other[kept]],
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
    credible = _by_credibility(calls, steps)
    new, agreed = _agreeing(credible, steps)
    contradicted = Contradictions()
    joined = list(_joined(credible.only(~agreed), steps, contradicted))
    code, alike = steps.names.code, credible.only(agreed)
    first = new[agreed]
    row = np.append(alike.row[first], np.array([each[0].position for each in joined], np.int64))
    caller = np.append(alike.caller[first], np.array([code(each[0].caller) for each in joined], np.int32))
    callee = np.append(alike.callee[first], np.array([code(each[0].callee) for each in joined], np.int32))
    parent = np.append(alike.parent[first], np.array([each[0].parent for each in joined], np.int64))
    further = [(int(first.sum()) + n, call.position) for n, each in enumerate(joined) for call in each[1:]]
    other_of = np.append((np.cumsum(first) - 1)[~first], np.array([number for number, _ in further], np.int64))
    other_row = np.append(alike.row[~first], np.array([position for _, position in further], np.int64))
    order = np.lexsort((row, steps.names.ranks(callee), steps.names.ranks(caller)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    provenance = _provenance(row, caller, callee, steps)
    attempts = Attempts(
        compact(row[order]),
        caller[order],
        callee[order],
        provenance[order],
        compact(parent[order]),
        compact(other_row),
        compact(place[other_of]),
    )
    return attempts, contradicted


def _by_credibility(calls: AttributedCalls, steps: Steps) -> AttributedCalls:
    """The calls by step, the most credible content first."""
    observed, direct = steps.of_sources("observed"), steps.of_sources("direct")
    row = calls.row
    return calls.only(np.lexsort((row, ~direct[row], ~observed[row], steps.columns.step[row])))


def _agreeing(calls: AttributedCalls, steps: Steps) -> tuple[Flags, Flags]:
    """By call, whether it is the first of its step; and whether all contents of its step name the same agents, as
    nearly all do. `calls`: by step."""
    new = changes(steps.columns.step[calls.row])
    step, first = np.cumsum(new) - 1, np.flatnonzero(new)
    differs = (calls.caller != calls.caller[first][step]) | (calls.callee != calls.callee[first][step])
    return new, (np.bincount(step[differs], minlength=len(first)) == 0)[step]


def _provenance(row: Numbers, caller: Codes, callee: Codes, steps: Steps) -> Bytes:
    calling, called = (participant_codes(each, steps.names) for each in (caller, callee))
    told, size = _told_below(steps), len(steps.names.texts)
    asked = steps.columns.step[row].astype(np.int64) * size + called
    place = np.searchsorted(told, asked)
    corroborated = calling != called
    corroborated &= told.take(place, mode="clip") == asked if len(told) else False
    found = np.where(corroborated, _CORROBORATED, _REPORTED)
    return np.where(steps.of_sources("observed")[row], _OBSERVED, found).astype(np.int8)


def participant_codes(agents: Codes, names: Names) -> Codes:
    """The codes of the agents' participants."""
    distinct, place = np.unique(agents, return_inverse=True)
    participants = [names.code(participant_of(names.texts[code])) for code in distinct.tolist()]
    return np.array(participants, np.int32)[place]


def _told_below(steps: Steps) -> Numbers:
    """The steps below which somebody directly reported a step, by whom: the number of the step times the number of
    names, plus the code of the reporter. Sorted."""
    columns, code = steps.columns, steps.names.code
    reporters = [[code(each.reporter) for each in source if each.direct] for source in steps.sources]
    size = len(steps.names.texts)
    below = columns.parent >= 0
    parent, source = columns.parent[below].astype(np.int64) * size, columns.source[below]
    times = np.array([len(each) for each in reporters], np.int64)
    flat, first = np.array([each for of_source in reporters for each in of_source], np.int64), np.cumsum(times) - times
    told = [np.zeros(0, np.int64)]
    for nth in range(times.max(initial=0)):
        has = times[source] > nth
        parent, source = parent[has], source[has]
        told.append(parent + flat[first[source] + nth])
    found = np.concatenate(told)
    found.sort()
    return found


def _joined(calls: AttributedCalls, steps: Steps, contradicted: Contradictions) -> Iterator[list[_Claimed]]:
    """The believed contents of each attempt among steps whose contents differ, the most credible first.

    `calls`: by step, the most credible first.
    """
    names = steps.names.texts
    facts = (each.tolist() for each in (calls.row, calls.caller, calls.callee, calls.parent))
    claimed = [
        _Claimed(row, names[caller], names[callee], parent) for row, caller, callee, parent in zip(*facts, strict=True)
    ]
    observed = steps.of_sources("observed") if claimed else np.zeros(0, np.bool_)
    for _, group in groupby(claimed, key=lambda call: steps.columns.step[call.position]):
        for caller, variants in _by_caller(list(group)).items():
            believed_by_callee = _believed(variants, observed)
            by_digest = sorted(variants, key=lambda call: call.position)
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


def _believed(claimed: list[_Claimed], observed: Flags) -> Mapping[str, list[_Claimed]]:
    """The believed variants of a call by callee, in their order. Observations override all other claims."""
    seen = {call.callee for call in claimed if observed[call.position]}
    believed: defaultdict[str, list[_Claimed]] = defaultdict(list)
    for call in claimed:
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
    names, columns = steps.names.texts, steps.columns
    observed = attempts.provenance == _OBSERVED
    ends = np.column_stack([participant_codes(each, steps.names) for each in (attempts.caller, attempts.callee)])
    unseen = np.flatnonzero(~observed)
    url = columns.callee_url[attempts.row[unseen]]
    of_case, case = cases(ends[unseen, 0], ends[unseen, 1], url)
    expected = [
        _should_have_been_observed(names[caller], names[callee], names[code], roster)
        for (caller, callee), code in zip(ends[unseen[of_case]].tolist(), url[of_case].tolist(), strict=True)
    ]
    suspected = unseen[np.array(expected, np.bool_)[case]]
    claimed = np.bincount(attempts.attempt_of_other, minlength=len(attempts)) > 0
    unclaimed = Counter(map(tuple, ends[observed & ~claimed].tolist())) if len(suspected) else Counter()
    for number in sorted(suspected.tolist(), key=lambda number: _key(number, attempts, steps)):
        between, row = tuple(ends[number].tolist()), int(attempts.row[number])
        if unclaimed[between]:
            unclaimed[between] -= 1
        elif not columns.failed[row]:
            caller, callee = names[attempts.caller[number]], names[attempts.callee[number]]
            refuted.add(row, caller, callee, steps)
    allowed = np.ones(len(attempts), np.bool_)
    allowed[suspected] = False
    return attempts.only(allowed)


def _key(number: int, attempts: Attempts, steps: Steps) -> tuple[str, str, str, str]:
    names, row = steps.names.texts, int(attempts.row[number])
    return names[attempts.caller[number]], names[attempts.callee[number]], steps.trace_id(row), steps.step_id(row)


def _should_have_been_observed(caller: str, callee: str, url: str, roster: Roster) -> bool:
    if caller == callee or caller not in roster or callee not in roster:
        return False
    return not url or is_proxy_url(url)


# Causal order: each call after the call that it was made in. Clocks only order calls without such a bond.


def causal_order(attempts: Attempts, steps: Steps, counted: Flags) -> tuple[Numbers, Numbers]:
    """The numbers of the attempts in `counted` in causal order: each after the call that it was made in. And by place
    in this order, the place of that call, or `ROOT`.

    Calls without such a bond are sorted by their starts. A start before the parent's counts as the parent's, since the
    clocks of different machines cannot be compared; an unknown start does too. The children of an attempt that does
    not count belong to the nearest call above it that does.
    """
    parents = _parents(attempts, len(steps.columns))
    started = steps.columns.started_us[attempts.row]
    start = largest_above(parents, np.where(started == NEVER, -np.inf, started.astype(np.float64)))
    order = _sorted(np.flatnonzero(counted), start, ordered(parents).depth, attempts, steps)
    place = np.full(len(attempts) + 1, ROOT, np.int64)
    place[order] = np.arange(len(order))
    return compact(order), compact(place[nearest(parents, counted)[order]])


def _sorted(
    numbers: Numbers,
    start: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    depth: Numbers,
    attempts: Attempts,
    steps: Steps,
) -> Numbers:
    """The attempts by start, depth and step id. Compares texts only where start and depth are equal."""
    starts, depths = start[numbers], depth[numbers]
    order = np.lexsort((depths, starts))
    starts, depths = starts[order], depths[order]
    first = np.flatnonzero(changes(starts, depths))
    sizes = np.diff(np.append(first, len(order)))
    in_order = numbers[order]
    for begin, size in zip(first[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        in_order[begin : begin + size] = _by_id(in_order[begin : begin + size].tolist(), attempts, steps)
    return in_order


def _by_id(numbers: Sequence[int], attempts: Attempts, steps: Steps) -> list[int]:
    names, row = steps.names.texts, attempts.row

    def key(number: int) -> tuple[str, str, str, str]:
        ends = names[attempts.caller[number]], names[attempts.callee[number]]
        return steps.step_id(row[number]), *ends, steps.trace_id(row[number])

    return sorted(numbers, key=key)


def _parents(attempts: Attempts, n_rows: int) -> Numbers:
    """By attempt, the number of the one that it was made in, or `ROOT`.

    Contradictory reports may form a cycle of parents; its members lose their parents.
    """
    first = np.full(n_rows + 1, len(attempts), np.int64)
    """By row, the first attempt that it belongs to."""
    first[attempts.row[::-1]] = np.arange(len(attempts))[::-1]
    np.minimum.at(first, attempts.other_row, attempts.attempt_of_other)
    parents = first[attempts.parent]
    parents[parents == len(attempts)] = ROOT
    if (cyclic := ordered(parents).cyclic).any():
        parents[cyclic] = ROOT
    return parents
