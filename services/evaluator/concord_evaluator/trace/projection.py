"""The projection: derives the calls between agents from steps. Graph, metrics and findings are built on it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from concord.assessment.cost import MAX_USES, ModelUse
from concord.assessment.results import Observability, ParticipantObservability, StepCounts, TraceIntegrity
from concord.trace.report import Report
from concord.trace.step import CallType
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.trace.attribution import (
    PROVENANCES,
    Contradictions,
    Provenance,
    Users,
    attribute,
    bound_undeclared,
    find_attempts,
    in_graph,
    participant_of,
    without_refuted,
)
from concord_evaluator.trace.columns import KINDS, NONE, Flags, Steps
from concord_evaluator.trace.fold import FoldedTrace, Forest, build_forest, fold
from concord_evaluator.trace.links import CallList, Interaction, Link, Links, calls_on, causal_order, join_attempts
from concord_evaluator.trace.trees import ROOT, below_any

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
    `green_links`: the assessor's own calls, which are not part of the graph. `all_links`: both. `calls`: all attempts,
    also those with unknown ends, in causal order. `silent_agents`: declared agents that sent nothing, no report and no
    reply.
    `tokens`: the reported tokens; None if no step reports any. `texts`: a sample of the requests, by digest.
    `contradictions`: claims of calls that observations refute. `self_calls`, `unattributed_calls`: the numbers of calls
    of an agent to itself and of calls with an unknown end, which are left out of `links`. `unnamed`: undeclared agents
    beyond those that are told apart. `uses`: the model calls that agents report.
    """

    agents: tuple[str, ...]
    links: Links
    green_links: Links
    all_links: Links
    calls: CallList
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
    trace = fold(reports)
    if live:
        trace = replace(trace, steps=trace.steps.without_claimed_latencies())
    forest, steps = build_forest(trace), trace.steps
    made = attribute(forest, roster)
    if live:
        made = bound_undeclared(made, steps.names, roster)
    attempts, contradicted = find_attempts(made.calls, steps)
    if observed:
        attempts = without_refuted(attempts, steps, roster, contradicted)
    counted = np.array([each in _COUNTED[evidence] for each in PROVENANCES], np.bool_)
    order, parents = causal_order(attempts, steps, counted[attempts.provenance])
    places = np.full(len(attempts), ROOT)
    places[order] = parents
    logical = join_attempts(attempts, steps, places)
    sorted_calls = _sort_calls(logical)
    structural = logical.among(sorted_calls.structural)
    believed = sorted_calls.structural & counted[logical.provenance]
    links = logical.among(believed)
    agents = _agents(roster, made.agents, links)
    return Projection(
        agents=agents,
        links=links,
        green_links=logical.among(sorted_calls.green),
        all_links=logical.among(believed | sorted_calls.green),
        calls=CallList(attempts, steps, order, parents),
        silent_agents=_silent_agents(agents, roster, {*made.agents, *reporters}, logical),
        tokens=_tokens(forest),
        texts=trace.texts,
        contradictions=contradicted,
        self_calls=sorted_calls.self_calls,
        unattributed_calls=sorted_calls.unattributed_calls,
        unnamed=made.n_unnamed,
        steps=_step_counts(steps),
        integrity=_integrity(trace, forest, contradicted.total, structural),
        uses=_summed_uses(made.users, steps),
    )


@dataclass(frozen=True, slots=True)
class _SortedCalls:
    """`structural`: between two different agents of the graph. `green`: from the assessor to an agent of the graph."""

    structural: Flags
    green: Flags
    self_calls: int
    unattributed_calls: int


def _sort_calls(logical: Links) -> _SortedCalls:
    names = logical.steps.names
    caller, callee = logical.caller[logical.link_of_call], logical.callee[logical.link_of_call]
    green, inside = names.code(GREEN_AGENT), in_graph(callee, names)
    between = (caller != green) & (callee != green)
    named = between & in_graph(caller, names) & inside
    structural = named & (caller != callee)
    return _SortedCalls(
        structural=structural,
        green=(caller == green) & inside,
        self_calls=int(named.sum() - structural.sum()),
        unattributed_calls=int(between.sum() - named.sum()),
    )


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
    names = links.steps.names.texts
    answering = {names[code] for code in set(links.callee[_answered(links)].tolist())}
    present = answering.union(active, map(participant_of, active))
    return tuple(agent for agent in agents if agent in roster and agent not in present)


def _answered(links: Links) -> Flags:
    """By link, whether any of the calls was answered, possibly with a failure."""
    answered = links.steps.columns.answered[links.row]
    return np.bincount(links.link_of_attempt[answered], minlength=len(links)) > 0


def _tokens(forest: Forest) -> int | None:
    """The tokens of the whole trace. The tokens of a step include those of the steps below it."""
    tokens = forest.steps.columns.tokens
    told = (tokens != NONE) & ~forest.refused
    uncovered = tokens[told & ~below_any(forest.parents, told)].tolist()
    return sum(uncovered) if uncovered else None


def _summed_uses(users: Users, steps: Steps) -> Sequence[ModelUse]:
    """The model calls by agent and model, most calls first; at most `MAX_USES`."""
    columns, names = steps.columns, steps.names.texts
    told = (columns.model, columns.model_tokens, columns.model_input, columns.model_output)
    sums: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * 6)
    for agent, model, *amounts in zip(users.agent.tolist(), *(each[users.row].tolist() for each in told), strict=True):
        untold, unsplit = amounts[0] == NONE, amounts[0] != NONE and NONE in amounts[1:]
        used = sums[agent, model]
        for place, amount in enumerate((1, untold, unsplit, *(max(each, 0) for each in amounts))):
            used[place] += amount
    summed = [
        ModelUse(
            agent=names[agent],
            model=None if model == NONE else names[model],
            calls=calls,
            untold=untold,
            unsplit=unsplit,
            tokens=tokens,
            input_tokens=read,
            output_tokens=written,
        )
        for (agent, model), (calls, untold, unsplit, tokens, read, written) in sums.items()
    ]
    return sorted(summed, key=lambda use: (-use.calls, use.agent, use.model or ""))[:MAX_USES]


def _step_counts(steps: Steps) -> StepCounts:
    kinds = dict(zip(KINDS, np.bincount(steps.columns.kind, minlength=len(KINDS)).tolist(), strict=True))
    return StepCounts(agent=kinds[CallType.AGENT], tool=kinds[CallType.TOOL], host=kinds[CallType.HOST])


def _integrity(trace: FoldedTrace, forest: Forest, contradicted: int, structural: Links) -> TraceIntegrity:
    observed, corroborated, reported = np.bincount(structural.provenance, minlength=len(PROVENANCES)).tolist()
    return TraceIntegrity(
        steps=len(trace.steps.columns),
        observed=observed,
        corroborated=corroborated,
        reported=reported,
        contradicted=contradicted,
        conflicting=trace.conflicting,
        duplicate=trace.duplicate,
        completeness=forest.completeness,
    )


# Observability: the participants whose calls the gateway could observe. Separates inactive from unobserved
# participants.


def observability_of(
    projection: Projection, roster: Roster, reporters: Collection[str]
) -> list[ParticipantObservability]:
    """For each declared participant, how much of its calls could have been seen.

    `full`: it called through the gateway, reported steps, or declares that it reports. `partly`: only calls to it were
    seen, not its own calls. `none`: neither, so its silence says nothing. `reporters`: the reporters of any step.
    """
    calls = projection.calls
    names = calls.steps.names
    seen = (calls.provenance == PROVENANCES.index(Provenance.OBSERVED)) & (calls.caller != names.code(GREEN_AGENT))
    callers, callees = (
        {participant_of(names.texts[code]) for code in np.unique(ends[seen]).tolist()}
        for ends in (calls.caller, calls.callee)
    )
    callers |= set(reporters)
    return [
        ParticipantObservability(
            agent=entry.id,
            observability="full"
            if entry.reports or entry.id in callers
            else "partly"
            if entry.id in callees
            else "none",
        )
        for entry in roster
    ]


def team_observability(participants: Iterable[ParticipantObservability | Observability]) -> Observability | None:
    """`full` or `none` if every participant has that level, else `partly`. None without participants."""
    levels = {each if isinstance(each, str) else each.observability for each in participants}
    return None if not levels else levels.pop() if len(levels) == 1 else "partly"


def unseen_participants(participants: Sequence[ParticipantObservability]) -> frozenset[str]:
    """The participants whose calls could not have been seen."""
    return frozenset(each.agent for each in participants if each.observability == "none")
