"""The team over all trials that are known: its agents, latencies, structure, integrity and judgments."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

from concord.assessment import AssessmentPlan, Mode, TrialSpec
from concord.assessment.jobs import TrialVerdict
from concord.assessment.result_row import AgentRecord, GraphMetricsSummary, InfrastructureFailure
from concord.assessment.results import (
    Grading,
    Judgment,
    LatencySummary,
    MetricStatus,
    Observability,
    ParticipantObservability,
    Quality,
    TraceIntegrity,
    TrialOutcome,
    TrialRecord,
)
from concord.wire.roster import Roster, RosterEntry
from concord_evaluator.documents import AgentTally, JudgedTrial, TrialEvaluation
from concord_evaluator.latency import pooled, summarise
from concord_evaluator.pipeline import verdict_on
from concord_evaluator.scoring import BOTTLENECK_CAP, TeamStructure, quality_of
from concord_evaluator.trace import team_observability
from concord_evaluator.trace.attribution import participant_of

# The trials of an assessment that are known: those that were judged, and those that the participants lost.


def judged_trials(plan: AssessmentPlan, verdicts: Iterable[TrialVerdict]) -> list[JudgedTrial]:
    """The trials that have a record, in the order of the plan."""
    return in_order(plan, (verdict for verdict in verdicts if isinstance(verdict, JudgedTrial)))


def forfeited_trials(
    plan: AssessmentPlan, judged: Sequence[JudgedTrial], failures: Iterable[InfrastructureFailure]
) -> list[JudgedTrial]:
    """The planned trials that the participants themselves lost. Each has the outcome 0, and nothing else is known."""
    known = {trial.record.trial_id for trial in judged}
    lost = {each.trial_id: each for each in failures if each.caused_by == "participants"}
    return [
        _forfeited(plan, trial, lost[trial.trial_id])
        for trial in plan.trials
        if trial.trial_id in lost and trial.trial_id not in known
    ]


def in_order(plan: AssessmentPlan, trials: Iterable[JudgedTrial]) -> list[JudgedTrial]:
    """The trials in the order of the plan."""
    by_id = {trial.record.trial_id: trial for trial in trials}
    return [by_id[trial.trial_id] for trial in plan.trials if trial.trial_id in by_id]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None. None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _forfeited(plan: AssessmentPlan, trial: TrialSpec, failure: InfrastructureFailure) -> JudgedTrial:
    reason = f"the participants lost the trial: {failure.message}"
    outcome = TrialOutcome(trial_id=trial.trial_id, state="failed", error=reason, answer=None, time_used=0)
    grading = Grading(value=0, source="code", scorer=None, reason=reason)
    unknown = MetricStatus.UNDEFINED
    lost = verdict_on(plan, TrialEvaluation(outcome=outcome, grading=grading, coordination_status=unknown), None)
    return lost.model_copy(update={"record": lost.record.model_copy(update={"passed": False})})  # whatever the mark


# The judgments of an assessment: merges those of its trials into one.

MAX_POINTS: Final = 10
"""Strengths and weaknesses that a merged judgment names, the most frequent ones. The trials have all of them."""

_WORST_FIRST: Final[tuple[Quality, ...]] = ("bottleneck", "low", "medium", "high")


def judgments_of(trials: Iterable[JudgedTrial]) -> list[Judgment]:
    """The judgments of the trials that have one, in order."""
    return [trial.record.judge for trial in trials if trial.record.judge is not None]


def merged_judgment(judgments: Sequence[Judgment]) -> Judgment | None:
    """Merges judgments: means, the most frequent label (of equals the worse), and source `rules` if any has it."""
    if len(judgments) < 2:
        return judgments[0] if judgments else None
    labels = Counter(judgment.coordination_quality for judgment in judgments)
    label = max(_WORST_FIRST, key=lambda quality: labels[quality])
    reasons = dict.fromkeys(judgment.reason for judgment in judgments if judgment.reason)
    return Judgment(
        source="llm" if all(judgment.source == "llm" for judgment in judgments) else "rules",
        reason="; ".join(reasons) or None,
        model_failed=any(judgment.model_failed for judgment in judgments),
        overall_score=mean(judgment.overall_score for judgment in judgments),
        task_success=mean(judgment.task_success for judgment in judgments),
        coordination_quality=label if labels[label] else None,
        reasoning=f"{len(judgments)} trials were judged, each on its own.",
        strengths=frequent(judgment.strengths for judgment in judgments),
        weaknesses=frequent(judgment.weaknesses for judgment in judgments),
        model=_common(judgment.model for judgment in judgments),
        prompt_version=_common(judgment.prompt_version for judgment in judgments),
        samples=sum(judgment.samples for judgment in judgments),
        agreement=mean(judgment.agreement for judgment in judgments),
        cached_samples=sum(judgment.cached_samples for judgment in judgments),
    )


def _common(names: Iterable[str | None]) -> str | None:
    """The one name that is not None; None if there are several."""
    known = {name for name in names if name is not None}
    return known.pop() if len(known) == 1 else None


def frequent(points: Iterable[Sequence[str]]) -> list[str]:
    """The most frequent points, each once; of equally frequent ones the first."""
    return [point for point, _ in Counter(point for some in points for point in some).most_common(MAX_POINTS)]


# The team over all trials: its agents, latencies, structure, and the integrity of its traces.

MAX_PAIRS: Final = 5
"""The limit of pairs of participants in the warning about calls past the gateway."""

TO_BE_OBSERVED: Final = (
    "to have them observed, take peers' addresses from `/peers`, or start the caller with `concord adapt` "
    "(docs/reporting.md)"
)

NOT_BETWEEN: Final = (
    "calls between participants could not be observed: they have no address of the gateway (--card-url, "
    "CONCORD_PROXY_URL), as behind a platform's proxy, or CONCORD_OBSERVE is off"
)


def declared_agents(plan: AssessmentPlan) -> Roster:
    """The agents declared for any task of the plan that has a trial."""
    tasks = dict.fromkeys(trial.task_id for trial in plan.trials)
    entries: dict[str, RosterEntry] = {}
    for task_id in tasks:
        entries |= {entry.id: entry for entry in plan.agents(task_id)}
    return Roster(entries.values())


def agent_records(trials: Sequence[JudgedTrial], roster: Roster) -> list[AgentRecord]:
    """The agents of all trials' graphs, sorted; the declared agents if no trial was evaluated."""
    tallies: defaultdict[str, list[AgentTally]] = defaultdict(list)
    for trial in trials:
        for tally in trial.agents:
            tallies[tally.id].append(tally)
    latencies = pooled(callee for trial in trials for callee in trial.latencies)
    declared = {entry.id: entry for entry in roster}
    return [
        _agent_record(agent, declared.get(agent), tallies[agent], latencies[agent])
        for agent in sorted(tallies if trials else declared)
    ]


def _agent_record(
    agent: str, entry: RosterEntry | None, tallies: list[AgentTally], latencies: list[float]
) -> AgentRecord:
    return AgentRecord(
        id=agent,
        url=None if entry is None else entry.url,
        agentbeats_id=None if entry is None else entry.agentbeats_id,
        functions=[] if entry is None else list(entry.functions),
        declared=entry is not None,
        calls_made=sum(tally.calls_made for tally in tallies),
        calls_received=sum(tally.calls_received for tally in tallies),
        errors_received=sum(tally.errors_received for tally in tallies),
        latency_avg_ms=fmean(sorted(latencies)) if latencies else None,
    )


def latency_over(trials: Iterable[JudgedTrial], roster: Roster) -> LatencySummary:
    """The latency summary of all calls of all trials."""
    return summarise((callee for trial in trials for callee in trial.latencies), roster)


def graph_metrics(trials: Iterable[JudgedTrial]) -> GraphMetricsSummary:
    """The leaderboard's figures on structure: means, and flags that hold in more than half of the trials."""
    structures = _structures(trials)
    isolated = Counter(agent for structure in structures for agent in structure.isolated)
    has_bottleneck = _has_bottleneck(structures)
    return GraphMetricsSummary(
        graph_density=mean(structure.density for structure in structures),
        has_bottleneck=has_bottleneck if structures else None,
        isolated_agents=sorted(agent for agent, times in isolated.items() if 2 * times > len(structures)),
        coordination_quality=quality_of(_coordination_value(structures), has_bottleneck=has_bottleneck),
    )


def coordination_status(records: Sequence[TrialRecord], quality: Quality | None) -> MetricStatus:
    """Whether the label is defined. It is not for a lone participant, nor where no calls could have been seen."""
    if quality is not None:
        return MetricStatus.OK
    statuses = {record.coordination_status for record in records}
    return MetricStatus.NOT_APPLICABLE if statuses == {MetricStatus.NOT_APPLICABLE} else MetricStatus.UNDEFINED


def coordination_value(trials: Iterable[JudgedTrial]) -> float | None:
    """The mean coordination value, capped if more than half of the trials have a bottleneck."""
    return _coordination_value(_structures(trials))


def _structures(trials: Iterable[JudgedTrial]) -> list[TeamStructure]:
    return [trial.structure for trial in trials if trial.structure is not None]


def _has_bottleneck(structures: Sequence[TeamStructure]) -> bool:
    return 2 * sum(bool(structure.bottlenecks) for structure in structures) > len(structures)


def _coordination_value(structures: Sequence[TeamStructure]) -> float | None:
    value = mean(structure.coordination_value for structure in structures)
    return min(value, BOTTLENECK_CAP) if value is not None and _has_bottleneck(structures) else value


def trace_integrity(trials: Sequence[JudgedTrial]) -> TraceIntegrity:
    """The counts summed over the trials. Completeness is the share of all steps whose parent is known."""
    parts = [trial.record.trace_integrity for trial in trials]
    counts = [name for name, field in TraceIntegrity.model_fields.items() if field.annotation is int]
    placed = [(part.completeness, part.steps) for part in parts if part.completeness is not None]
    steps = sum(count for _, count in placed)
    seen: defaultdict[str, list[Observability]] = defaultdict(list)
    for each in (participant for part in parts for participant in part.participants):
        seen[each.agent].append(each.observability)
    participants = [
        ParticipantObservability(agent=agent, observability=team_observability(levels) or "none")
        for agent, levels in seen.items()
    ]
    total = TraceIntegrity(
        completeness=min(1.0, sum(share * count for share, count in placed) / steps) if steps else None,
        observability=team_observability(participants),
        participants=participants,
    )
    return total.model_copy(update={name: sum(getattr(part, name) for part in parts) for name in counts})


def why_unobserved(plan: AssessmentPlan, integrity: TraceIntegrity) -> list[str]:
    """Why calls of participants could not be observed, where the gateway was not between them."""
    hidden = any(each.observability != "full" for each in integrity.participants)
    return [NOT_BETWEEN] if hidden and plan.mode is Mode.LIVE and not plan.observed else []


def past_the_gateway(records: Iterable[TrialRecord], roster: Roster) -> list[str]:
    """The calls between participants that the gateway did not carry, and the remedy; empty without such calls.

    `records`: of trials in which participants reached each other through the gateway alone.
    """
    past: Counter[tuple[str, str]] = Counter()
    for call in (call for record in records for call in record.interactions if call.calls > call.observed):
        caller, callee = participant_of(call.caller), participant_of(call.callee)
        if caller != callee and caller in roster and callee in roster:
            past[caller, callee] += call.calls - call.observed
    pairs = [f"{caller} to {callee} ({calls})" for (caller, callee), calls in past.most_common()]
    if not pairs:
        return []
    more = f" and {len(pairs) - MAX_PAIRS} more pairs" if len(pairs) > MAX_PAIRS else ""
    shown = ", ".join(pairs[:MAX_PAIRS])
    return [f"calls past the gateway, reported by participants alone: {shown}{more}", TO_BE_OBSERVED]
