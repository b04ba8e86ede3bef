"""Attribution: which agent made each step, and which agent each call went to."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from concord.trace.step import CallType
from concord.wire.roster import GREEN_AGENT, UNKNOWN_AGENT, Roster
from concord_evaluator.trace.attribution import NOT_IN_GRAPH, callee_of, inner_agent, participant_of
from lab.columns.forest import Forest
from lab.columns.model_uses import StepUse
from lab.columns.records import StepRecord
from lab.columns.trees import ROOT

MAX_UNDECLARED: Final = 1000
"""Undeclared agents that are nodes of a live trial's graph.

Reports may name any number of agents. Most metrics take time quadratic in the agents, and a row has a record for each.
"""

_AGENT: Final = CallType.AGENT
_NONE: Final[frozenset[str]] = frozenset()


class AttributedCall(NamedTuple):
    """A call with its ends. `position`: of its record; `parent`: of the nearest call above it, or `ROOT`."""

    position: int
    caller: str
    callee: str
    parent: int


@dataclass(frozen=True, slots=True)
class Attribution:
    """The agents that made a step of the trace, and all calls among these steps.

    `n_unnamed`: undeclared agents beyond `MAX_UNDECLARED`, which are not told apart. `uses`: the model calls, each with
    its agent; one inside another is the same call, as a second library sees it.
    """

    agents: frozenset[str]
    calls: list[AttributedCall]
    n_unnamed: int = 0
    uses: tuple[tuple[str, StepUse], ...] = ()


def attribute(forest: Forest, roster: Roster) -> Attribution:
    """Determines the agent that made each step in the forest.

    A step belongs to its direct reporter. A step that was only relayed belongs to the callee of the nearest call above
    it, or to `unknown` without one. Where several reporters report one content directly, that callee decides as well.
    If it is none of them, any of them may have made the step, and the result has a call for each: no reporter can take
    over another's step by repeating it.
    """
    agents: set[str] = set()
    calls: list[AttributedCall] = []
    enclosing = array("q", [ROOT]) * len(forest.records)
    """By step: the index of the call that the steps below it were made in."""
    uses: list[tuple[str, StepUse]] = []
    within_use = bytearray(len(forest.records))
    callee_of_call = [""] * len(forest.records)
    for index in forest.order:
        record, parent = forest.records[index], forest.parents[index]
        above = ROOT if parent == ROOT else enclosing[parent]
        enclosing[index] = above
        makers = _agents_of(record, None if above == ROOT else callee_of_call[above], roster)
        covered = parent != ROOT and within_use[parent]
        within_use[index] = covered or record.use is not None
        if record.use is not None and not covered:
            uses.append((makers[0] if len(makers) == 1 else UNKNOWN_AGENT, record.use))
        for agent in makers:
            agents.add(agent)
            if record.kind is _AGENT:
                callee = callee_of(agent, record.callee_url, record.callee_name, roster)
                enclosing[index], callee_of_call[index] = index, callee
                calls.append(AttributedCall(index, agent, callee, above))
    return Attribution(frozenset(agents), calls, uses=tuple(uses))


def _agents_of(record: StepRecord, callee_above: str | None, roster: Roster) -> list[str]:
    reporters = [each.reporter for each in record.attestations if each.direct]
    if not reporters:
        reporters = [UNKNOWN_AGENT if callee_above is None else participant_of(callee_above)]
    elif len(reporters) > 1 and callee_above is not None and participant_of(callee_above) in reporters:
        reporters = [participant_of(callee_above)]
    makers = [_agent_of(reporter, record, callee_above, roster) for reporter in reporters]
    if GREEN_AGENT not in reporters:
        return makers
    seen = makers[reporters.index(GREEN_AGENT)]
    return [maker for maker in makers if maker == seen or maker.startswith(f"{seen}/")]


def _agent_of(reporter: str, record: StepRecord, callee_above: str | None, roster: Roster) -> str:
    """The agent behind a reporter: the one that the step names, else the agent inside it that was called, else itself.

    The green agent reports calls between others. The step names their caller, or the call above it does.
    """
    if record.agent_name and reporter == GREEN_AGENT:
        return roster.resolve("", record.agent_name)
    if record.agent_name:
        return inner_agent(reporter, record.agent_name, roster)
    if callee_above is not None and (participant_of(callee_above) == reporter or reporter == GREEN_AGENT):
        return callee_above
    return reporter


def step_reporters(records: Sequence[StepRecord]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The direct reporters of the steps under each call, by trace id and the call's step id. Equal sets are shared."""
    reporters: defaultdict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    shared: dict[frozenset[str], frozenset[str]] = {}
    for record in records:
        if record.parent_id is not None:
            by_parent = reporters[record.trace_id]
            known = by_parent.get(record.parent_id, _NONE)
            new = [each.reporter for each in record.attestations if each.direct and each.reporter not in known]
            if new:
                joined = known.union(new)
                by_parent[record.parent_id] = shared.setdefault(joined, joined)
    return reporters


def bound_undeclared(attribution: Attribution, roster: Roster, limit: int = MAX_UNDECLARED) -> Attribution:
    """Keeps the first undeclared agents, sorted by id.

    Any other undeclared agent inside a participant becomes that participant, and every other one `unknown`.
    """
    undeclared = _undeclared(attribution, roster)
    if len(undeclared) <= limit:
        return attribution
    replaced = {agent: _declared_or_unknown(agent, roster) for agent in sorted(undeclared)[limit:]}
    calls = [
        call._replace(caller=replaced.get(call.caller, call.caller), callee=replaced.get(call.callee, call.callee))
        for call in attribution.calls
    ]
    uses = tuple((replaced.get(agent, agent), use) for agent, use in attribution.uses)
    return Attribution(
        frozenset(replaced.get(agent, agent) for agent in attribution.agents), calls, len(replaced), uses
    )


def _undeclared(attribution: Attribution, roster: Roster) -> set[str]:
    found = attribution.agents.union(end for call in attribution.calls for end in (call.caller, call.callee))
    return {agent for agent in found if agent not in roster} - NOT_IN_GRAPH


def _declared_or_unknown(agent: str, roster: Roster) -> str:
    participant = participant_of(agent)
    return participant if participant in roster else UNKNOWN_AGENT
