"""The projection: from steps to what agents did with each other. The graph, the metrics and the score stand on it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from concord.assessment.results import StepCounts, TraceIntegrity
from concord.assessment.roster import GREEN_AGENT, Roster
from concord.trace.report import Report
from concord.trace.step import CallType
from concord_evaluator.trace.agent_ids import NOT_IN_GRAPH, participant_of
from concord_evaluator.trace.attribution import Attribution, attribute, bound_undeclared, step_reporters
from concord_evaluator.trace.causal_order import Timeline, causal_order
from concord_evaluator.trace.claims import Contradictions, find_attempts, without_refuted
from concord_evaluator.trace.fold import FoldedTrace, fold
from concord_evaluator.trace.forest import Forest, grow
from concord_evaluator.trace.interactions import (
    Call,
    Interaction,
    Link,
    LinkCalls,
    Links,
    Provenance,
    calls_on,
    join_attempts,
)
from concord_evaluator.trace.records import StepRecord
from concord_evaluator.trace.trees import ROOT

Evidence = Literal["any", "corroborated", "observed"]

_COUNTED: Final[dict[Evidence, frozenset[Provenance]]] = {
    "any": frozenset(Provenance),
    "corroborated": frozenset({Provenance.CORROBORATED, Provenance.OBSERVED}),
    "observed": frozenset({Provenance.OBSERVED}),
}


@dataclass(frozen=True, slots=True)
class Projection:
    """What a trace says about its agents.

    `agents`: the declared ones and those seen, sorted. `links`: the calls between two of them, as far as the evidence
    asked for allows. `green_links`: the assessor's own calls, which are no part of the graph. Calls of an
    agent to itself and calls with an unknown end are counted, and left out of structure. `calls`: every attempt at
    any call, of whatever ends, in causal order. `unheard`: declared agents that sent nothing: no report, no reply.
    `tokens`: those that were reported; None where nobody reports any. `texts`: a sample of what was asked.
    `contradictions`: claims that what was seen refutes. `unnamed`: undeclared agents beyond those that are
    told apart.
    """

    agents: tuple[str, ...]
    links: Links
    green_links: Links
    calls: tuple[Call, ...]
    unheard: tuple[str, ...]
    tokens: int | None
    texts: Mapping[str, str]
    contradictions: Contradictions
    self_calls: int
    unattributed_calls: int
    unnamed: int
    steps: StepCounts
    integrity: TraceIntegrity

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        """The calls between agents, sorted by caller and callee."""
        return tuple(calls_on(self.links))

    @property
    def answered(self) -> Links:
        """Every call that an agent of the team was to answer, the assessor's included."""
        return {**self.links, **self.green_links}


def project(
    reports: Iterable[Report],
    roster: Roster,
    evidence: Evidence = "any",
    *,
    observed: bool = False,
    live: bool = False,
    heard: Collection[str] = (),
) -> Projection:
    """Projects the reports of one trace. Depends on what was reported, not on its order or repetition.

    `observed`: participants reached each other through the gateway alone, so that it saw their calls. `live`: the
    trace tells of agents that are being assessed, so that a call has no latency but the one that we measured, and
    agents that nobody declared are bounded in number. `heard`: who reported anything, though it may have come too late,
    or contradict itself, and so stand nowhere in `reports`.
    `integrity.late` and `integrity.dropped` are not known from reports, and 0.
    """
    trace, forest = _grown(reports)
    made = attribute(forest, roster)
    if live:
        _forget_claimed_latencies(trace.records)
        made = bound_undeclared(made, roster)
    contradicted, timeline = _calls(made, forest, roster, evidence, observed=observed)
    logical = join_attempts(timeline.calls)
    between = {link: calls for link, calls in logical.items() if GREEN_AGENT not in link}
    named = {link: calls for link, calls in between.items() if NOT_IN_GRAPH.isdisjoint(link)}
    structural = {(caller, callee): calls for (caller, callee), calls in named.items() if caller != callee}
    links = _counted(structural, _COUNTED[evidence])
    agents = _agents(roster, made.makers, links)
    return Projection(
        agents=agents,
        links=links,
        green_links={
            (caller, callee): calls
            for (caller, callee), calls in logical.items()
            if caller == GREEN_AGENT and callee not in NOT_IN_GRAPH
        },
        calls=timeline.in_order,
        unheard=_unheard(agents, roster, {*made.makers, *heard}, logical),
        tokens=_tokens(forest),
        texts=trace.texts,
        contradictions=contradicted,
        self_calls=_size(named) - _size(structural),
        unattributed_calls=_size(between) - _size(named),
        unnamed=made.n_unnamed,
        steps=_step_counts(trace),
        integrity=_integrity(trace, forest, contradicted.total, structural),
    )


def _grown(reports: Iterable[Report]) -> tuple[FoldedTrace, Forest]:
    """The trace and its forest; the index of its steps, which takes a tenth of all room, is needed no longer."""
    trace, index = fold(reports)
    return trace, grow(trace, index)


def _forget_claimed_latencies(records: Iterable[StepRecord]) -> None:
    """Whoever is assessed could make itself quick and others slow by what it says of its calls."""
    for record in records:
        if record.latency_ms is not None and not record.observed:
            record.latency_ms = None


def _calls(
    made: Attribution, forest: Forest, roster: Roster, evidence: Evidence, *, observed: bool
) -> tuple[Contradictions, Timeline]:
    """The claims of calls that were contradicted, and the calls that are believed."""
    claims = find_attempts(made.calls, forest.records, step_reporters(forest.records))
    attempts = without_refuted(claims.attempts, roster, claims.contradicted) if observed else claims.attempts
    return claims.contradicted, causal_order(attempts, len(forest.records), _COUNTED[evidence])


def _size(links: Links) -> int:
    return sum(len(link.calls) for link in links.values())


def _counted(links: Links, provenances: frozenset[Provenance]) -> Links:
    """The calls that are believed for one of these reasons."""
    if len(provenances) == len(Provenance):
        return links
    chosen = {link: [call for call in each.calls if call.provenance in provenances] for link, each in links.items()}
    return {link: LinkCalls(calls) for link, calls in chosen.items() if calls}


def _agents(roster: Roster, makers: Iterable[str], links: Iterable[Link]) -> tuple[str, ...]:
    """The nodes: the roster, the ends of calls, and the agents inside participants.

    A participant that shows only through the agents inside it is those agents, not one more beside them.
    """
    declared = {entry.id for entry in roster}
    ends = {end for link in links for end in link}
    at_work = {maker for maker in makers if participant_of(maker) in declared}
    agents = declared | ends | at_work
    teams = {participant_of(agent) for agent in agents if participant_of(agent) != agent}
    return tuple(sorted(agents - (teams - ends)))


def _unheard(agents: Iterable[str], roster: Roster, heard: Collection[str], links: Links) -> tuple[str, ...]:
    """The declared agents of the graph that told of nothing and answered no call, the assessor's included.

    An agent inside a participant, which may be declared by itself, is heard, and so is the participant.
    """
    answering = {callee for (_, callee), each in links.items() if _has_answer(each)}
    present = answering.union(heard, map(participant_of, heard))
    return tuple(agent for agent in agents if agent in roster and agent not in present)


def _has_answer(link: LinkCalls) -> bool:
    """Whether any of the calls was answered, be it with a failure."""
    return link.failed < len(link.calls) or any(attempt.record.answered for call in link.calls for attempt in call)


def _tokens(forest: Forest) -> int | None:
    """The tokens of the whole trace. What a step says it took includes what was made under it."""
    within = bytearray(len(forest.records))
    tokens: list[int] = []
    for place in forest.order:
        told, parent = forest.records[place].tokens, forest.parents[place]
        covered = parent != ROOT and within[parent]
        within[place] = covered or told is not None
        if told is not None and not covered:
            tokens.append(told)
    return sum(tokens) if tokens else None


def _step_counts(trace: FoldedTrace) -> StepCounts:
    kinds = Counter([record.kind for record in trace.records])
    return StepCounts(agent=kinds[CallType.AGENT], tool=kinds[CallType.TOOL], host=kinds[CallType.HOST])


def _integrity(trace: FoldedTrace, forest: Forest, contradicted: int, structural: Links) -> TraceIntegrity:
    trust = Counter([call.provenance for call in calls_on(structural)])
    return TraceIntegrity(
        steps=len(trace.records),
        observed=trust[Provenance.OBSERVED],
        corroborated=trust[Provenance.CORROBORATED],
        reported=trust[Provenance.REPORTED],
        contradicted=contradicted,
        conflicting=trace.conflicting,
        duplicate=trace.duplicate,
        completeness=forest.completeness,
    )
