"""Attribution: which agent made each step, and which agent each call went to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from concord.trace.step import CallType
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH, Callees, inner_agent, participant_of
from concord_evaluator.trace.columns import KINDS, NO_MODEL_CALL, NONE, Codes, Names, Steps
from concord_evaluator.trace.forest import Forest
from concord_evaluator.trace.records import Attestation
from concord_evaluator.trace.trees import Numbers, below_any, nearest

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


@dataclass(frozen=True, slots=True)
class Attribution:
    """The agents that made a step of the trace, and all calls among these steps.

    `n_unnamed`: undeclared agents beyond `MAX_UNDECLARED`, which are not told apart. `users`: by row of a model call,
    the code of its agent; one inside another is the same call, as a second library sees it.
    """

    agents: frozenset[str]
    calls: AttributedCalls
    users: dict[int, int]
    n_unnamed: int = 0


def attribute(forest: Forest, roster: Roster) -> Attribution:
    """Determines the agent that made each step in the forest.

    A step belongs to its direct reporter. A step that was only relayed belongs to the callee of the nearest call above
    it, or to `unknown` without one. Where several reporters report one content directly, that callee decides as well.
    If it is none of them, any of them may have made the step, and the result has a call for each: no reporter can take
    over another's step by repeating it.
    """
    steps = forest.steps
    is_call = (steps.columns.kind == _CALL) & ~forest.refused
    above = nearest(forest.parents, is_call)
    makers = _Makers(steps, roster)
    calls, callees = _calls(forest, np.flatnonzero(is_call), above, makers, Callees(roster))
    agents, users = _others(forest, is_call, above, callees, makers)
    names = steps.names.texts
    made = {names[code] for code in agents.union(np.unique(calls.caller).tolist())}
    return Attribution(frozenset(made), calls, users)


def _calls(
    forest: Forest, rows: Numbers, above: Numbers, makers: "_Makers", resolved: Callees
) -> tuple[AttributedCalls, Sequence[int]]:
    """The calls; and by row its callee, with `NONE` for steps that are no calls, and at the end."""
    columns, names = forest.steps.columns, forest.steps.names
    rows = rows[np.argsort(forest.depth[rows], kind="stable")]
    callees = [NONE] * (len(columns) + 1)
    known: dict[tuple[int, int, int, int, int], list[tuple[int, int]]] = {}
    made: list[int] = []
    ends: list[tuple[int, int]] = []
    facts = (columns.source, columns.agent, columns.callee_url, columns.callee_name, above)
    for row, source, agent, url, name, parent in zip(
        rows.tolist(), *(each[rows].tolist() for each in facts), strict=True
    ):
        asked = callees[parent]
        case = (source, agent, asked, url, name)
        found = known.get(case)
        if found is None:
            found = known[case] = [
                (maker, names.code(resolved.of(names.texts[maker], names.texts[url], names.texts[name])))
                for maker in makers.of(source, agent, asked)
            ]
        callees[row] = found[-1][1]
        for each in found:
            made.append(row)
            ends.append(each)
    row_of = np.array(made, np.int64)
    by_row = np.argsort(row_of, kind="stable")
    row_of = row_of[by_row]
    caller, callee = np.array(ends, np.int32).reshape(-1, 2)[by_row].T
    return AttributedCalls(row_of, caller, callee, above[row_of]), callees


def _others(
    forest: Forest,
    is_call: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
    above: Numbers,
    callees: Sequence[int],
    makers: "_Makers",
) -> tuple[set[int], dict[int, int]]:
    """The agents that made steps other than calls, and the agents of the model calls."""
    columns = forest.steps.columns
    rows = np.flatnonzero(~is_call & ~forest.refused)
    asked = np.array(callees, np.int32)[above[rows]]
    cases, case_of = np.unique(
        np.stack([columns.source[rows], columns.agent[rows], asked], axis=1), axis=0, return_inverse=True
    )
    made_by = [makers.of(*case) for case in cases.tolist()]
    agents = {maker for each in made_by for maker in each}
    unknown = forest.steps.names.code(UNKNOWN_AGENT)
    user = np.array([each[0] if len(each) == 1 else unknown for each in made_by], np.int32)[case_of.reshape(-1)]
    uses = columns.model != NO_MODEL_CALL
    counted = uses[rows] & ~below_any(forest.parents, uses)[rows]
    return agents, dict(zip(rows[counted].tolist(), user[counted].tolist(), strict=True))


class _Makers:
    """Finds the agents that made a step. The same few cases recur."""

    def __init__(self, steps: Steps, roster: Roster) -> None:
        self._steps, self._names, self._roster = steps, steps.names, roster

    def of(self, source: int, agent: int, asked: int) -> list[int]:
        """`source`: who attests the step; `agent`: the name in it; `asked`: the callee of the call above, or `NONE`."""
        callee_above = None if asked == NONE else self._names.texts[asked]
        reporters = _reporters(self._steps.sources[source], callee_above)
        return [
            self._names.code(_agent_of(reporter, self._names.texts[agent], callee_above, self._roster))
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
        {row: bounded.get(agent, agent) for row, agent in attribution.users.items()},
        len(replaced),
    )


def _declared_or_unknown(agent: str, roster: Roster) -> str:
    participant = participant_of(agent)
    return participant if participant in roster else UNKNOWN_AGENT
