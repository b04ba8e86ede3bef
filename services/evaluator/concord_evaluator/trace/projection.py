"""The projection: from steps to what agents did with each other. The graph, the metrics and the score stand on it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from concord.identity import GREEN_AGENT, Roster
from concord.reports import Report
from concord.results import StepCounts, TraceIntegrity
from concord.steps import CallType
from concord_evaluator.trace.attribution import MadeStep, attribute, step_reporters
from concord_evaluator.trace.fold import FoldedTrace, fold
from concord_evaluator.trace.forest import Forest, grow
from concord_evaluator.trace.interactions import Calls, Interaction, Provenance, find_calls
from concord_evaluator.trace.names import NOT_IN_GRAPH, participant_of

Evidence = Literal["any", "corroborated", "observed"]

_COUNTED: Final[dict[Evidence, frozenset[Provenance]]] = {
    "any": frozenset(Provenance),
    "corroborated": frozenset({Provenance.CORROBORATED, Provenance.OBSERVED}),
    "observed": frozenset({Provenance.OBSERVED}),
}


@dataclass(frozen=True, slots=True)
class Projection:
    """What a trace says about its agents.

    `agents`: the declared ones and those seen, sorted. `interactions`: the calls between two of them, as far as the
    evidence asked for allows. `green_calls`: the assessor's own calls, which are no part of the graph. Calls of an
    agent to itself and calls with an unknown end are counted, and left out of structure.
    """

    agents: tuple[str, ...]
    interactions: tuple[Interaction, ...]
    green_calls: tuple[Interaction, ...]
    self_calls: int
    unattributed_calls: int
    steps: StepCounts
    integrity: TraceIntegrity

    @property
    def answered_calls(self) -> tuple[Interaction, ...]:
        """Every call that an agent of the team was to answer, the assessor's included."""
        return self.interactions + self.green_calls


def project(reports: Iterable[Report], roster: Roster, evidence: Evidence = "any") -> Projection:
    """Projects the reports of one trace. Depends on what was reported, not on its order or repetition.

    `integrity.late` and `integrity.dropped` are not known from reports, and 0.
    """
    trace = fold(reports)
    forest = grow(trace)
    made = list(attribute(trace, forest, roster))
    calls = find_calls(made, step_reporters(trace))
    between = [call for call in calls.interactions if call.caller != GREEN_AGENT and call.callee != GREEN_AGENT]
    named = [call for call in between if not {call.caller, call.callee} & NOT_IN_GRAPH]
    structural = [call for call in named if call.caller != call.callee]
    counted = tuple(call for call in structural if call.provenance in _COUNTED[evidence])
    return Projection(
        agents=_agents(roster, made, counted),
        interactions=counted,
        green_calls=tuple(
            call for call in calls.interactions if call.caller == GREEN_AGENT and call.callee not in NOT_IN_GRAPH
        ),
        self_calls=len(named) - len(structural),
        unattributed_calls=len(between) - len(named),
        steps=_step_counts(trace),
        integrity=_integrity(trace, forest, calls, structural),
    )


def _agents(roster: Roster, made: Iterable[MadeStep], calls: Iterable[Interaction]) -> tuple[str, ...]:
    """The nodes: the roster, the ends of calls, and the agents inside participants.

    A participant that shows only through the agents inside it is those agents, not one more beside them.
    """
    declared = {entry.id for entry in roster}
    ends = {end for call in calls for end in (call.caller, call.callee)}
    at_work = {step.maker for step in made if participant_of(step.maker) in declared}
    agents = declared | ends | at_work
    teams = {participant_of(agent) for agent in agents if participant_of(agent) != agent}
    return tuple(sorted(agents - (teams - ends)))


def _step_counts(trace: FoldedTrace) -> StepCounts:
    kinds = Counter(record.kind for record in trace.records.values())
    return StepCounts(agent=kinds[CallType.AGENT], tool=kinds[CallType.TOOL], host=kinds[CallType.HOST])


def _integrity(trace: FoldedTrace, forest: Forest, calls: Calls, structural: Iterable[Interaction]) -> TraceIntegrity:
    trust = Counter(call.provenance for call in structural)
    return TraceIntegrity(
        steps=len(trace.records),
        observed=trust[Provenance.OBSERVED],
        corroborated=trust[Provenance.CORROBORATED],
        reported=trust[Provenance.REPORTED],
        contradicted=calls.contradicted,
        conflicting=trace.conflicting,
        duplicate=trace.duplicate,
        completeness=forest.completeness,
    )
