"""Attribution: which agent made each step and which it called, and which of these calls are believed."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from concord.assessment.results import MAX_STEP_IDS
from concord.trace.attributes import KnownBy, Support
from concord.trace.step import CallType
from concord.trust.proxy_urls import is_proxy_url
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord_evaluator.trace.columns import (
    KINDS,
    NO_MODEL_CALL,
    NONE,
    SOURCES,
    SUPPORTS,
    Attestation,
    Flags,
    Names,
    Steps,
    cases,
    changes,
)
from concord_evaluator.trace.fold import Forest
from concord_evaluator.trace.trees import Numbers, below_any, nearest

# Agent ids: of participants, and of the agents inside a participant (`<participant>/<name>`).

NOT_IN_GRAPH: Final = frozenset({GREEN_AGENT, UNKNOWN_AGENT})
"""Ids that are not agents of the team."""


def in_graph(codes: Numbers, names: Names) -> Flags:
    """By code of a name, whether it is not one of `NOT_IN_GRAPH`."""
    inside: Flags = ~np.isin(codes, [names.code(each) for each in sorted(NOT_IN_GRAPH)])
    return inside


@lru_cache(maxsize=1 << 14)
def participant_of(agent_id: str) -> str:
    """The participant that an agent belongs to: the agent itself, unless it is one inside a participant."""
    return agent_id if agent_id.startswith("url:") else agent_id.partition("/")[0]


def inner_agent(participant: str, name: str, roster: Roster) -> str:
    """The id of the agent called `name` in a participant, which may also be a name of the participant itself."""
    if participant in NOT_IN_GRAPH or not name or roster.resolve("", name) == participant:
        return participant
    return f"{participant}/{name}"


def callee_of(caller: str, url: str, name: str, roster: Roster) -> str:
    """The id of the agent that `caller` called.

    A call without a URL did not leave the caller's participant: a name that is not in the roster is an agent inside it.
    """
    known = known_callee(url, name, roster)
    return inner_agent(participant_of(caller), name, roster) if known is None else known


def known_callee(url: str, name: str, roster: Roster) -> str | None:
    """The id of the called agent where it does not depend on the caller; None for an agent inside its participant."""
    if url:
        return roster.resolve(url, name)
    if not name:
        return UNKNOWN_AGENT
    resolved = roster.resolve("", name)
    return resolved if resolved in roster or resolved in NOT_IN_GRAPH else None


# Attribution: the agents at both ends of each call, and those that called models.

MAX_UNDECLARED: Final = 1000
"""Undeclared agents that are nodes of a live trial's graph.

Reports may name any number of agents. Most metrics take time quadratic in the agents, and a row has a record for each.
"""

_CALL: Final = KINDS.index(CallType.AGENT)


@dataclass(frozen=True, slots=True)
class AttributedCalls:
    """Calls with their ends, sorted by row. Several agents may have made the step in one row.

    `row`: of the call; `parent`: the row of the nearest call above it, or `ROOT`; `caller`, `callee`: codes of names.
    """

    row: Numbers
    caller: Numbers
    callee: Numbers
    parent: Numbers

    def only(self, chosen: "Numbers | Flags") -> "AttributedCalls":
        """These calls: their places, or by call whether it is one of them."""
        return AttributedCalls(self.row[chosen], self.caller[chosen], self.callee[chosen], self.parent[chosen])


@dataclass(frozen=True, slots=True)
class Users:
    """`row`: of each model call; `agent`: the code of the agent that made it."""

    row: Numbers
    agent: Numbers


@dataclass(frozen=True, slots=True)
class Attribution:
    """The agents that made a step of the trace, and all calls among these steps.

    `n_unnamed`: undeclared agents beyond `MAX_UNDECLARED`, which are not told apart. `users`: those of the model calls;
    one inside another is the same call, as a second library sees it.
    """

    agents: frozenset[str]
    calls: AttributedCalls
    users: Users
    n_unnamed: int = 0


def attribute(forest: Forest, roster: Roster) -> Attribution:
    """Determines the agent that made each step in the forest.

    A step belongs to its direct reporter. A step that was only relayed belongs to the callee of the nearest call above
    it, or to `unknown` without one. Where several reporters report one content directly, that callee decides as well.
    If it is none of them, any of them may have made the step, and the result has a call for each: no reporter can take
    over another's step by repeating it. Who repeats a step of the gateway may only name an agent inside its caller.
    """
    columns, names = forest.steps.columns, forest.steps.names
    is_call = (columns.kind == _CALL) & ~forest.refused
    above = nearest(forest.parents, is_call)
    makers = _Makers(forest.steps, roster)
    callee = _callees(forest, is_call, above, makers)
    rows = np.flatnonzero(~forest.refused)
    asked = callee[above[rows]]
    of_case, case = cases(columns.source[rows], columns.agent[rows], asked)
    facts = (columns.source[rows], columns.agent[rows], asked)
    made_by = [makers.of(*each) for each in zip(*(fact[of_case].tolist() for fact in facts), strict=True)]
    called = is_call[rows]
    calls = _calls(rows[called], case[called], made_by, callee, above, forest.steps, roster)
    uses = columns.model != NO_MODEL_CALL
    counted = (uses & ~below_any(forest.parents, uses))[rows]
    unknown = names.code(UNKNOWN_AGENT)
    user = np.array([each[0] if len(each) == 1 else unknown for each in made_by], np.int64)
    agents = {names.texts[maker] for each in made_by for maker in each}
    return Attribution(frozenset(agents), calls, Users(rows[counted], user[case[counted]]))


def _callees(forest: Forest, is_call: Flags, above: Numbers, makers: "_Makers") -> Numbers:
    """By row, the callee of a call; `NONE` for other steps, and at the end.

    Few callees are agents inside the caller's participant, so that they depend on the caller, and the caller on the
    callee above it.
    """
    columns, names, roster = forest.steps.columns, forest.steps.names, makers.roster
    rows = np.flatnonzero(is_call)
    of_case, case = cases(columns.callee_url[rows], columns.callee_name[rows])
    called = zip(*(each[rows[of_case]].tolist() for each in (columns.callee_url, columns.callee_name)), strict=True)
    known = [known_callee(names.texts[url], names.texts[name], roster) for url, name in called]
    callee = np.full(len(columns) + 1, NONE)
    callee[rows] = np.array([NONE if each is None else names.code(each) for each in known], np.int64)[case]
    inner = rows[callee[rows] == NONE]
    inner = inner[np.argsort(forest.depth[inner], kind="stable")]
    found: dict[tuple[int, int, int, int], int] = {}
    facts = (columns.source, columns.agent, columns.callee_name, above)
    for row, source, agent, name, parent in zip(inner.tolist(), *(each[inner].tolist() for each in facts), strict=True):
        called_by = source, agent, name, int(callee[parent])
        if called_by not in found:
            maker = makers.of(source, agent, called_by[-1])[-1]
            found[called_by] = names.code(inner_agent(participant_of(names.texts[maker]), names.texts[name], roster))
        callee[row] = found[called_by]
    return callee


def _calls(
    rows: Numbers,
    case: Numbers,
    made_by: Sequence[Sequence[int]],
    callee: Numbers,
    above: Numbers,
    steps: Steps,
    roster: Roster,
) -> AttributedCalls:
    """The calls in these rows by each of their makers. `case`: by call, the place of its makers in `made_by`."""
    times = np.array([len(each) for each in made_by], np.int64)
    flat = np.array([maker for each in made_by for maker in each], np.int64)
    number = np.repeat(np.arange(len(rows)), times[case])
    ends = np.cumsum(times[case])
    nth = np.arange(len(number)) - (ends - times[case])[number]
    caller = flat[(np.cumsum(times) - times)[case[number]] + nth]
    row = rows[number]
    called = callee[row]
    several = np.flatnonzero(times[case[number]] > 1)
    texts, url, name = steps.names.texts, steps.columns.callee_url[row], steps.columns.callee_name[row]
    for place in several.tolist():
        maker, address, callee_name = (texts[codes[place]] for codes in (caller, url, name))
        called[place] = steps.names.code(callee_of(maker, address, callee_name, roster))
    return AttributedCalls(row, caller, called, above[row])


class _Makers:
    """Finds the agents that made a step. The same few cases recur."""

    def __init__(self, steps: Steps, roster: Roster) -> None:
        self.roster = roster
        self._steps, self._names = steps, steps.names

    def of(self, source: int, agent: int, asked: int) -> list[int]:
        """`source`: who attests the step; `agent`: the name in it; `asked`: the callee of the call above, or `NONE`."""
        callee_above = None if asked == NONE else self._names.texts[asked]
        made_by = {
            reporter: _agent_of(reporter, self._names.texts[agent], callee_above, self.roster)
            for reporter in _reporters(self._steps.sources[source], callee_above)
        }
        seen = made_by.get(GREEN_AGENT)
        return [
            self._names.code(maker)
            for maker in made_by.values()
            if seen is None or maker == seen or maker.startswith(f"{seen}/")
        ]


def _reporters(attestations: Iterable[Attestation], callee_above: str | None) -> list[str]:
    reporters = [each.reporter for each in attestations if each.direct]
    if not reporters:
        return [UNKNOWN_AGENT if callee_above is None else participant_of(callee_above)]
    if len(reporters) > 1 and callee_above is not None and participant_of(callee_above) in reporters:
        return [participant_of(callee_above)]
    return reporters


def _agent_of(reporter: str, agent_name: str, callee_above: str | None, roster: Roster) -> str:
    """The agent behind a reporter: the one that the step names, else the agent inside it that was called, else itself.

    The green agent reports calls between others. The step names their caller, or the call above it does.
    """
    if agent_name and reporter == GREEN_AGENT:
        return roster.resolve("", agent_name)
    if agent_name:
        return inner_agent(reporter, agent_name, roster)
    if callee_above is not None and (participant_of(callee_above) == reporter or reporter == GREEN_AGENT):
        return callee_above
    return reporter


def bound_undeclared(
    attribution: Attribution, names: Names, roster: Roster, limit: int = MAX_UNDECLARED
) -> Attribution:
    """Keeps the first undeclared agents, sorted by id.

    Any other undeclared agent inside a participant becomes that participant, and every other one `unknown`.
    """
    calls = attribution.calls
    ends = {names.texts[code] for code in np.union1d(calls.caller, calls.callee).tolist()}
    undeclared = {agent for agent in attribution.agents | ends if agent not in roster} - NOT_IN_GRAPH
    if len(undeclared) <= limit:
        return attribution
    replaced = {agent: _declared_or_unknown(agent, roster) for agent in sorted(undeclared)[limit:]}
    bounded = {names.code(agent): names.code(instead) for agent, instead in replaced.items()}
    code = np.arange(len(names.texts), dtype=np.int64)
    code[list(bounded)] = list(bounded.values())
    return Attribution(
        frozenset(replaced.get(agent, agent) for agent in attribution.agents),
        replace(calls, caller=code[calls.caller], callee=code[calls.callee]),
        Users(attribution.users.row, code[attribution.users.agent]),
        len(replaced),
    )


def _declared_or_unknown(agent: str, roster: Roster) -> str:
    participant = participant_of(agent)
    return participant if participant in roster else UNKNOWN_AGENT


# Provenance: why a call is believed.


class Provenance(StrEnum):
    """Why a call is believed: the gateway observed it, both ends reported it, or one did or times tell it."""

    OBSERVED = "observed"
    CORROBORATED = "corroborated"
    REPORTED = "reported"


PROVENANCES: Final = tuple(Provenance)
"""The members by their codes in columns, from the most trusted one to the least."""


# Attempts: reports of one call.

MAX_CLAIMS: Final = 1000
"""Distinct refuted claims that are told apart. All are counted."""

_OBSERVED, _CORROBORATED, _REPORTED = map(PROVENANCES.index, Provenance)
_BY_TIME, _CONFIRMED = SOURCES.index(KnownBy.TIME), SUPPORTS.index(Support.CONFIRMED)


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
    caller: Numbers
    callee: Numbers
    provenance: Numbers
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
    caller = np.append(alike.caller[first], np.array([code(each[0].caller) for each in joined], np.int64))
    callee = np.append(alike.callee[first], np.array([code(each[0].callee) for each in joined], np.int64))
    parent = np.append(alike.parent[first], np.array([each[0].parent for each in joined], np.int64))
    further = [(int(first.sum()) + n, call.position) for n, each in enumerate(joined) for call in each[1:]]
    other_of = np.append((np.cumsum(first) - 1)[~first], np.array([number for number, _ in further], np.int64))
    other_row = np.append(alike.row[~first], np.array([position for _, position in further], np.int64))
    order = np.lexsort((row, steps.names.ranks(callee), steps.names.ranks(caller)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    provenance = _provenance(row, caller, callee, steps)
    attempts = Attempts(
        row[order], caller[order], callee[order], provenance[order], parent[order], other_row, place[other_of]
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


def _provenance(row: Numbers, caller: Numbers, callee: Numbers, steps: Steps) -> Numbers:
    calling, called = (participant_codes(each, steps.names) for each in (caller, callee))
    told, size = _told_below(steps), len(steps.names.texts)
    asked = steps.columns.step[row] * size + called
    place = np.searchsorted(told, asked)
    corroborated = calling != called
    corroborated &= told.take(place, mode="clip") == asked if len(told) else False
    known_by, support = steps.columns.known_by[row], steps.columns.support[row]
    corroborated &= (known_by != _BY_TIME) | (support == _CONFIRMED)  # nobody reported what follows from times
    found = np.where(corroborated, _CORROBORATED, _REPORTED)
    return np.where(steps.of_sources("observed")[row], _OBSERVED, found)


def participant_codes(agents: Numbers, names: Names) -> Numbers:
    """The codes of the agents' participants."""
    distinct, place = np.unique(agents, return_inverse=True)
    participants = [names.code(participant_of(names.texts[code])) for code in distinct.tolist()]
    return np.array(participants, np.int64)[place]


def _told_below(steps: Steps) -> Numbers:
    """The steps below which somebody directly reported a step, by whom: the number of the step times the number of
    names, plus the code of the reporter. Sorted."""
    columns, code = steps.columns, steps.names.code
    reporters = [[code(each.reporter) for each in source if each.direct] for source in steps.sources]
    size = len(steps.names.texts)
    below = columns.parent >= 0
    parent, source = columns.parent[below] * size, columns.source[below]
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
        elif columns.error[row] == NONE:
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
