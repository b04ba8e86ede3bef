"""The projection: derives the calls between agents from steps. Graph, metrics and findings are built on it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from concord.assessment.cost import MAX_USES, ModelUse
from concord.assessment.results import StepCounts, TraceIntegrity
from concord.trace.report import Report
from concord.trace.step import CallType
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.attribution import NOT_IN_GRAPH, participant_of
from lab.columns.attempts import Contradictions, find_attempts, without_refuted
from lab.columns.attribution import Attribution, attribute, bound_undeclared, step_reporters
from lab.columns.causal_order import Timeline, causal_order
from lab.columns.fold import FoldedTrace, fold
from lab.columns.forest import Forest, build_forest
from lab.columns.interactions import (
    Call,
    Interaction,
    Link,
    LinkCalls,
    Links,
    Provenance,
    calls_on,
    join_attempts,
)
from lab.columns.model_uses import StepUse
from lab.columns.records import StepRecord
from lab.columns.trees import ROOT

Evidence = Literal["any", "corroborated", "observed"]

_COUNTED: Final[dict[Evidence, frozenset[Provenance]]] = {
    "any": frozenset(Provenance),
    "corroborated": frozenset({Provenance.CORROBORATED, Provenance.OBSERVED}),
    "observed": frozenset({Provenance.OBSERVED}),
}


@dataclass(frozen=True, slots=True)
class Projection:
    """What a trace says about its agents.

    `agents`: the declared and the seen ones, sorted. `links`: the calls between two of them whose evidence suffices.
    `green_links`: the assessor's own calls, which are not part of the graph. `calls`: all attempts, also those with
    unknown ends, in causal order. `silent_agents`: declared agents that sent nothing, no report and no reply.
    `tokens`: the reported tokens; None if no step reports any. `texts`: a sample of the requests, by digest.
    `contradictions`: claims of calls that observations refute. `self_calls`, `unattributed_calls`: the numbers of calls
    of an agent to itself and of calls with an unknown end, which are left out of `links`. `unnamed`: undeclared agents
    beyond those that are told apart. `uses`: the model calls that agents report.
    """

    agents: tuple[str, ...]
    links: Links
    green_links: Links
    calls: tuple[Call, ...]
    silent_agents: tuple[str, ...]
    tokens: int | None
    texts: Mapping[str, str]
    contradictions: Contradictions
    self_calls: int
    unattributed_calls: int
    unnamed: int
    steps: StepCounts
    integrity: TraceIntegrity
    uses: Sequence[ModelUse] = ()

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        """The calls between agents, sorted by caller and callee."""
        return tuple(calls_on(self.links))

    @property
    def all_links(self) -> Links:
        """The calls to agents of the team, including the assessor's."""
        return {**self.links, **self.green_links}


def project(
    reports: Iterable[Report],
    roster: Roster,
    evidence: Evidence = "any",
    *,
    observed: bool = False,
    live: bool = False,
    reporters: Collection[str] = (),
) -> Projection:
    """Projects the reports of one trace. The result does not depend on the order or repetition of reports.

    `observed`: participants reached each other only through the gateway, so the gateway saw their calls. `live`: the
    agents are being assessed, so only latencies that the gateway measured count, and undeclared agents are bounded in
    number. `reporters`: everybody who reported anything, even if the report came too late or was rejected.
    `integrity.late` and `integrity.dropped` are not known from reports, and are 0.
    """
    trace, forest = _forest_of(reports)
    made = attribute(forest, roster)
    if live:
        _forget_claimed_latencies(trace.records)
        made = bound_undeclared(made, roster)
    contradicted, timeline = _calls(made, forest, roster, evidence, observed=observed)
    logical = join_attempts(timeline.calls)
    sorted_links = _sort_links(logical)
    links = _counted(sorted_links.structural, _COUNTED[evidence])
    agents = _agents(roster, made.agents, links)
    return Projection(
        agents=agents,
        links=links,
        green_links=sorted_links.green,
        calls=timeline.in_order,
        silent_agents=_silent_agents(agents, roster, {*made.agents, *reporters}, logical),
        tokens=_tokens(forest),
        texts=trace.texts,
        contradictions=contradicted,
        self_calls=sorted_links.self_calls,
        unattributed_calls=sorted_links.unattributed_calls,
        unnamed=made.n_unnamed,
        steps=_step_counts(trace),
        integrity=_integrity(trace, forest, contradicted.total, sorted_links.structural),
        uses=summed_uses(made.uses),
    )


def _forest_of(reports: Iterable[Report]) -> tuple[FoldedTrace, Forest]:
    """The trace and its forest. The step index, a tenth of all memory, is released on return."""
    trace, step_index = fold(reports)
    return trace, build_forest(trace, step_index)


def _forget_claimed_latencies(records: Iterable[StepRecord]) -> None:
    """Removes latencies that the gateway did not measure: an assessed agent could report any latency for its calls."""
    for record in records:
        if record.latency_ms is not None and not record.observed:
            record.latency_ms = None


def _calls(
    made: Attribution, forest: Forest, roster: Roster, evidence: Evidence, *, observed: bool
) -> tuple[Contradictions, Timeline]:
    """The refuted claims of calls, and the believed calls in causal order."""
    found = find_attempts(made.calls, forest.records, step_reporters(forest.records))
    attempts = without_refuted(found.attempts, roster, found.contradicted) if observed else found.attempts
    return found.contradicted, causal_order(attempts, len(forest.records), _COUNTED[evidence])


@dataclass(frozen=True, slots=True)
class _SortedLinks:
    """`structural`: between two different agents of the graph. `green`: from the assessor to an agent of the graph."""

    structural: Links
    green: Links
    self_calls: int
    unattributed_calls: int


def _sort_links(logical: Links) -> _SortedLinks:
    between = {link: calls for link, calls in logical.items() if GREEN_AGENT not in link}
    named = {link: calls for link, calls in between.items() if NOT_IN_GRAPH.isdisjoint(link)}
    structural = {(caller, callee): calls for (caller, callee), calls in named.items() if caller != callee}
    return _SortedLinks(
        structural=structural,
        green={
            (caller, callee): calls
            for (caller, callee), calls in logical.items()
            if caller == GREEN_AGENT and callee not in NOT_IN_GRAPH
        },
        self_calls=_size(named) - _size(structural),
        unattributed_calls=_size(between) - _size(named),
    )


def _size(links: Links) -> int:
    return sum(len(link.calls) for link in links.values())


def _counted(links: Links, provenances: frozenset[Provenance]) -> Links:
    """The calls that have one of these provenances."""
    if len(provenances) == len(Provenance):
        return links
    chosen = {link: [call for call in each.calls if call.provenance in provenances] for link, each in links.items()}
    return {link: LinkCalls(calls) for link, calls in chosen.items() if calls}


def _agents(roster: Roster, active: Iterable[str], links: Iterable[Link]) -> tuple[str, ...]:
    """The nodes: the roster, the ends of calls, and the agents inside participants.

    A participant that appears only through its inner agents is not a node itself.
    """
    declared = {entry.id for entry in roster}
    ends = {end for link in links for end in link}
    inner = {agent for agent in active if participant_of(agent) in declared}
    agents = declared | ends | inner
    teams = {participant_of(agent) for agent in agents if participant_of(agent) != agent}
    return tuple(sorted(agents - (teams - ends)))


def _silent_agents(agents: Iterable[str], roster: Roster, active: Collection[str], links: Links) -> tuple[str, ...]:
    """The declared agents of the graph that reported nothing and answered no call, not even the assessor's.

    An active agent inside a participant makes both active.
    """
    answering = {callee for (_, callee), each in links.items() if _has_answer(each)}
    present = answering.union(active, map(participant_of, active))
    return tuple(agent for agent in agents if agent in roster and agent not in present)


def _has_answer(link: LinkCalls) -> bool:
    """Whether any of the calls was answered, possibly with a failure."""
    return link.failed < len(link.calls) or any(attempt.record.answered for call in link.calls for attempt in call)


def _tokens(forest: Forest) -> int | None:
    """The tokens of the whole trace. The tokens of a step include those of the steps below it."""
    within = bytearray(len(forest.records))
    tokens: list[int] = []
    for index in forest.order:
        reported, parent = forest.records[index].tokens, forest.parents[index]
        covered = parent != ROOT and within[parent]
        within[index] = covered or reported is not None
        if reported is not None and not covered:
            tokens.append(reported)
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


def summed_uses(uses: Iterable[tuple[str, StepUse]]) -> Sequence[ModelUse]:
    """The calls by agent and model, most calls first; at most `MAX_USES`."""
    found: defaultdict[tuple[str, str | None], list[StepUse]] = defaultdict(list)
    for agent, use in uses:
        found[agent, use.model].append(use)
    summed = [
        ModelUse(
            agent=agent,
            model=model,
            calls=len(each),
            untold=sum(use.tokens is None for use in each),
            unsplit=sum(use.tokens is not None and None in (use.input_tokens, use.output_tokens) for use in each),
            tokens=sum(use.tokens or 0 for use in each),
            input_tokens=sum(use.input_tokens or 0 for use in each),
            output_tokens=sum(use.output_tokens or 0 for use in each),
        )
        for (agent, model), each in found.items()
    ]
    return sorted(summed, key=lambda use: (-use.calls, use.agent, use.model or ""))[:MAX_USES]
