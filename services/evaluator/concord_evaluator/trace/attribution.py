"""Attribution: which agent made each step, and which agent each call went to."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from concord.assessment.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord.trace.step import CallType
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH, Callees, inside, participant_of
from concord_evaluator.trace.forest import Forest
from concord_evaluator.trace.records import StepRecord
from concord_evaluator.trace.trees import ROOT

MAX_UNDECLARED: Final = 1000
"""Undeclared agents that are nodes of a live trial's graph.

Reports may name any number of agents. Most metrics take time quadratic in the agents, and a row has a record for each.
"""

_AGENT: Final = CallType.AGENT
_NOBODY: Final[frozenset[str]] = frozenset()


class MadeCall(NamedTuple):
    """A call and who made it. `place`: the record that tells of it; `above`: that of the nearest call above it, or
    `ROOT`.
    """

    place: int
    maker: str
    callee: str
    above: int


@dataclass(frozen=True, slots=True)
class Attribution:
    """The agents that made a step of the trace, and all calls among these steps.

    `n_unnamed`: undeclared agents beyond `MAX_UNDECLARED`, which are not told apart.
    """

    makers: frozenset[str]
    calls: list[MadeCall]
    n_unnamed: int = 0


def attribute(forest: Forest, roster: Roster) -> Attribution:
    """Says of every step in the forest who made it.

    A step is its direct reporter's. One that was only relayed was made by whom the nearest call above it went to, and
    by `unknown` without one. Several direct reporters of one content are told apart by that call as well; where it
    names none of them, each may have made the step, and there is a call for each: nobody can take away another's step
    by repeating it.
    """
    callees = Callees(roster)
    makers: set[str] = set()
    calls: list[MadeCall] = []
    under = array("q", [ROOT]) * len(forest.records)
    """By step: the call whose answer the steps under it are part of."""
    answering = [""] * len(forest.records)
    """By call: who answers it."""
    for place in forest.order:
        record, parent = forest.records[place], forest.parents[place]
        above = ROOT if parent == ROOT else under[parent]
        under[place] = above
        for maker in _makers(record, None if above == ROOT else answering[above], roster):
            makers.add(maker)
            if record.kind is _AGENT:
                callee = callees.of(maker, record.callee_url, record.callee_name)
                under[place], answering[place] = place, callee
                calls.append(MadeCall(place, maker, callee, above))
    return Attribution(frozenset(makers), calls)


def _makers(record: StepRecord, above: str | None, roster: Roster) -> list[str]:
    reporters = [telling.reporter for telling in record.tellings if telling.direct]
    if not reporters:
        reporters = [UNKNOWN_AGENT if above is None else participant_of(above)]
    elif len(reporters) > 1 and above is not None and participant_of(above) in reporters:
        reporters = [participant_of(above)]
    return [_maker(reporter, record, above, roster) for reporter in reporters]


def _maker(reporter: str, record: StepRecord, above: str | None, roster: Roster) -> str:
    """The agent behind a reporter: the one the step names, else the one inside it that was called, else itself.

    The green agent reports what it observed between others: the caller is named by the step or by where it hangs.
    """
    if record.agent_name and reporter == GREEN_AGENT:
        return roster.resolve("", record.agent_name)
    if record.agent_name:
        return inside(reporter, record.agent_name, roster)
    if above is not None and (participant_of(above) == reporter or reporter == GREEN_AGENT):
        return above
    return reporter


def step_reporters(records: Sequence[StepRecord]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Who told, directly, of steps made under a call, by trace id and the call's step id. Equal sets are held once."""
    reporters: defaultdict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    shared: dict[frozenset[str], frozenset[str]] = {}
    for record in records:
        if record.parent_id is not None:
            under = reporters[record.trace_id]
            known = under.get(record.parent_id, _NOBODY)
            new = [each.reporter for each in record.tellings if each.direct and each.reporter not in known]
            if new:
                told = known.union(new)
                under[record.parent_id] = shared.setdefault(told, told)
    return reporters


def bound_undeclared(made: Attribution, roster: Roster, limit: int = MAX_UNDECLARED) -> Attribution:
    """Keeps the first undeclared agents, sorted by id.

    Any other undeclared agent inside a participant becomes that participant, and every other one `unknown`.
    """
    undeclared = _undeclared(made, roster)
    if len(undeclared) <= limit:
        return made
    replaced = {agent: _declared_or_unknown(agent, roster) for agent in sorted(undeclared)[limit:]}
    calls = [
        call._replace(maker=replaced.get(call.maker, call.maker), callee=replaced.get(call.callee, call.callee))
        for call in made.calls
    ]
    return Attribution(frozenset(replaced.get(maker, maker) for maker in made.makers), calls, len(replaced))


def _undeclared(made: Attribution, roster: Roster) -> set[str]:
    found = made.makers.union(end for call in made.calls for end in (call.maker, call.callee))
    return {agent for agent in found if agent not in roster} - NOT_IN_GRAPH


def _declared_or_unknown(agent: str, roster: Roster) -> str:
    participant = participant_of(agent)
    return participant if participant in roster else UNKNOWN_AGENT
