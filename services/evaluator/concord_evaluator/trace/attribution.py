"""Attribution: which agent made each step, and which agent each call went to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from concord.trace.step import CallType
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord_evaluator.trace.columns import KINDS, NO_MODEL_CALL, NONE, Attestation, Codes, Flags, Names, Steps, cases
from concord_evaluator.trace.fold import Forest
from concord_evaluator.trace.reading import Users
from concord_evaluator.trace.trees import Numbers, below_any, nearest

# Agent ids: of participants, and of the agents inside a participant (`<participant>/<name>`).

NOT_IN_GRAPH: Final = frozenset({GREEN_AGENT, UNKNOWN_AGENT})
"""Ids that are not agents of the team."""


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


# Attribution.

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
    caller: Codes
    callee: Codes
    parent: Numbers

    def only(self, chosen: "Numbers | Flags") -> "AttributedCalls":
        """These calls: their places, or by call whether it is one of them."""
        return AttributedCalls(self.row[chosen], self.caller[chosen], self.callee[chosen], self.parent[chosen])


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
    over another's step by repeating it.
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
    user = np.array([each[0] if len(each) == 1 else unknown for each in made_by], np.int32)
    agents = {names.texts[maker] for each in made_by for maker in each}
    return Attribution(frozenset(agents), calls, Users(rows[counted], user[case[counted]]))


def _callees(forest: Forest, is_call: Flags, above: Numbers, makers: "_Makers") -> Codes:
    """By row, the callee of a call; `NONE` for other steps, and at the end.

    Few callees are agents inside the caller's participant, so that they depend on the caller, and the caller on the
    callee above it.
    """
    columns, names, roster = forest.steps.columns, forest.steps.names, makers.roster
    rows = np.flatnonzero(is_call)
    of_case, case = cases(columns.callee_url[rows], columns.callee_name[rows])
    called = zip(*(each[rows[of_case]].tolist() for each in (columns.callee_url, columns.callee_name)), strict=True)
    known = [known_callee(names.texts[url], names.texts[name], roster) for url, name in called]
    callee = np.full(len(columns) + 1, NONE, np.int32)
    callee[rows] = np.array([NONE if each is None else names.code(each) for each in known], np.int32)[case]
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
    callee: Codes,
    above: Numbers,
    steps: Steps,
    roster: Roster,
) -> AttributedCalls:
    """The calls in these rows by each of their makers. `case`: by call, the place of its makers in `made_by`."""
    times = np.array([len(each) for each in made_by], np.int64)
    flat = np.array([maker for each in made_by for maker in each], np.int32)
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
        reporters = _reporters(self._steps.sources[source], callee_above)
        return [
            self._names.code(_agent_of(reporter, self._names.texts[agent], callee_above, self.roster))
            for reporter in reporters
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
    code = np.arange(len(names.texts), dtype=np.int32)
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
