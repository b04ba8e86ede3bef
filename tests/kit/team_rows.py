"""Result rows of teams for the tests of displays: calls scheduled in time, and the figures that follow from them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise, permutations
from random import Random
from statistics import fmean, quantiles

import networkx as nx

from concord.assessment import Mode
from concord.assessment.result_row import AgentRecord, InfrastructureFailure, ResultRow
from concord.assessment.results import (
    CallRecord,
    Finding,
    GradedAnswer,
    Grading,
    InteractionRecord,
    Judgment,
    LatencySummary,
    MetricParameter,
    MetricRecord,
    MetricStatus,
    ParticipantObservability,
    StepCounts,
    SubScore,
    TraceIntegrity,
    TrialRecord,
)
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.verdict import verdict_of
from tests.kit.rows import make_row, parts_of

FIVE = ["coordinator", "researcher_1", "researcher_2", "synthesizer", "reviewer"]


@dataclass(frozen=True, slots=True)
class Call:
    """A planned call: callee, its own work in milliseconds, and its own calls; those of one round are concurrent."""

    callee: str
    work: float = 100.0
    rounds: Sequence[Sequence["Call"]] = ()
    error: str | None = None


@dataclass(slots=True)
class _Scheduler:
    """Schedules planned calls on one clock."""

    calls: list[CallRecord] = field(default_factory=list)

    def schedule(self, ask: Call, caller: str = GREEN_AGENT, start: float = 0.0, parent: str | None = None) -> float:
        """Records the call and all calls below it, in causal order; returns the time of its end."""
        position, step_id = len(self.calls), f"{len(self.calls) + 1:016x}"
        self.calls.append(_record(step_id, parent, caller, ask, start))
        now = start + ask.work / 2
        for together in ask.rounds:
            now = max([self.schedule(each, ask.callee, now + 9 * i, step_id) for i, each in enumerate(together)])
        end = now + ask.work / 2
        self.calls[position] = self.calls[position].model_copy(update={"duration_ms": round(end - start, 1)})
        return end


def _record(step_id: str, parent: str | None, caller: str, ask: Call, start: float) -> CallRecord:
    return CallRecord(
        step_id=step_id,
        parent_step_id=parent,
        caller=caller,
        callee=ask.callee,
        start_ms=round(start, 1),
        duration_ms=0,
        error=ask.error,
        provenance="observed" if caller == GREEN_AGENT or ask.work < 150 else "corroborated",
        on_critical_path=False,
    )


def _with_critical_path(calls: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls with the critical path marked: from the first call down, each time into the call that ended last."""
    critical = {calls[0].step_id} if calls else set()
    for call in calls:
        if call.step_id in critical:
            below = [each for each in calls if each.parent_step_id == call.step_id]
            end = _end(call)
            for each in sorted(below, key=_end, reverse=True):
                if _end(each) <= end:
                    critical.add(each.step_id)
                    end = each.start_ms or 0.0
    return [call.model_copy(update={"on_critical_path": call.step_id in critical}) for call in calls]


def _end(call: CallRecord) -> float:
    return (call.start_ms or 0.0) + (call.duration_ms or 0.0)


def scheduled(*asks: Call) -> list[CallRecord]:
    """The records of planned calls that follow one another."""
    scheduler, now = _Scheduler(), 0.0
    for ask in asks:
        now = scheduler.schedule(ask, start=now)
    return _with_critical_path(scheduler.calls)


def _between_agents(calls: Sequence[CallRecord]) -> list[CallRecord]:
    return [call for call in calls if call.caller != GREEN_AGENT]


def interactions_of(calls: Sequence[CallRecord]) -> list[InteractionRecord]:
    def ends(call: CallRecord) -> tuple[str, str]:
        return call.caller, call.callee

    pairs = groupby(sorted(_between_agents(calls), key=ends), key=ends)
    return [_interaction(caller, callee, list(group)) for (caller, callee), group in pairs]


def _interaction(caller: str, callee: str, calls: Sequence[CallRecord]) -> InteractionRecord:
    known = Counter(call.provenance for call in calls)
    latencies = [call.duration_ms for call in calls if call.duration_ms is not None]
    return InteractionRecord(
        caller=caller,
        callee=callee,
        calls=len(calls),
        errors=sum(call.error is not None for call in calls),
        retries=0,
        observed=known["observed"],
        corroborated=known["corroborated"],
        reported=known["reported"],
        latency_avg_ms=fmean(latencies) if latencies else None,
    )


def _graph(agents: Sequence[str], calls: Sequence[CallRecord]) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(agents)
    for call in _between_agents(calls):
        graph.add_edge(call.caller, call.callee)
        if call.error is None:
            graph.add_edge(call.callee, call.caller)
    return graph


def _metrics(agents: Sequence[str], calls: Sequence[CallRecord]) -> Iterator[MetricRecord]:
    graph, between = _graph(agents, calls), _between_agents(calls)
    failed = sum(call.error is not None for call in calls)
    yield _metric("density", nx.density(graph), len(agents), "density/messages")
    yield _metric("error_rate", failed / len(calls) if calls else None, len(calls), "failed_calls/calls")
    yield _metric("repeat_ratio", None, 0, "repeated_requests/comparable_requests", "no call says what it asked")
    yield _metric(
        "connected_components",
        nx.number_weakly_connected_components(graph),
        len(agents),
        "weakly_connected_components/messages/count",
    )
    ends = Counter(end for call in between for end in (call.caller, call.callee))
    for agent, value in nx.betweenness_centrality(graph).items():
        yield _metric(
            "betweenness_centrality", value, len(agents), "betweenness_centrality/messages/normalized", agent=agent
        )
    for agent, value in nx.degree_centrality(graph.to_undirected()).items():
        yield _metric("degree_centrality", value, len(agents), "degree_centrality/messages/undirected", agent=agent)
    for agent in agents:
        share = ends[agent] / len(between) if between else None
        yield _metric(
            "message_share", share, 2 * len(between), "messages_of_agent/messages", "there are no messages", agent
        )


def _metric(
    metric_id: str, value: float | None, n: int, definition_id: str, reason: str = "", agent: str | None = None
) -> MetricRecord:
    return MetricRecord(
        id=metric_id,
        agent=agent,
        value=value,
        status=MetricStatus.OK if value is not None else MetricStatus.UNDEFINED,
        reason=reason if value is None else None,
        n=n,
        definition_id=definition_id,
        engine="networkx",
    )


def _findings(metrics: Sequence[MetricRecord], calls: Sequence[CallRecord]) -> Iterator[Finding]:
    advice = {
        "bottleneck": "is on most paths between the other agents: let them call each other directly if they need no "
        "intermediary. If a hub is the design, check that it is not overloaded and not the only path.",
        "isolated": "is part of the team, but exchanged no message with another agent: give it a share of the work, or "
        "remove it from the team.",
    }
    for metric in metrics:
        flag = {"betweenness_centrality": "bottleneck", "degree_centrality": "isolated"}.get(metric.id)
        if flag is None or metric.agent is None or metric.value is None:
            continue
        if (flag == "bottleneck" and metric.value > 0.5) or (flag == "isolated" and metric.value == 0):
            shown = [call.step_id for call in _between_agents(calls) if metric.agent in (call.caller, call.callee)]
            yield Finding(
                id=flag,
                agents=[metric.agent],
                metric_id=metric.id,
                value=metric.value,
                threshold=0.5 if flag == "bottleneck" else 0.0,
                step_ids=shown[:20],
                advice=f"{metric.agent} {advice[flag]}",
            )
    failed = [call for call in calls if call.error is not None]
    if failed:
        yield Finding(
            id="error_cascade",
            agents=sorted({call.callee for call in failed}),
            metric_id="error_rate",
            value=len(failed) / len(calls),
            threshold=0.05,
            step_ids=[call.step_id for call in failed],
            advice="Failures travel up to whoever asked: try again with a delay, or answer with what there is.",
        )


def _latency(calls: Sequence[CallRecord]) -> LatencySummary:
    values = sorted(call.duration_ms for call in calls if call.duration_ms is not None)
    if len(values) < 2:
        return LatencySummary()
    cuts = quantiles(values, n=100)
    n = len(values)
    slowest = max(calls, key=lambda call: call.duration_ms or 0).callee
    return LatencySummary(
        avg=fmean(values), p50=cuts[49], p95=cuts[94], p99=cuts[98], n=n, p95_reliable=n >= 20, p99_reliable=n >= 100,
        slowest_agent=slowest,
    )  # fmt: skip


def trial_of(agents: Sequence[str], calls: Sequence[CallRecord], *, number: int = 1, score: float = 0.8) -> TrialRecord:
    """A trial in which these calls were made, judged by code."""
    metrics = list(_metrics(agents, calls))
    known = Counter(call.provenance for call in calls)
    return TrialRecord(
        trial_id=f"trial-{number}",
        task_id="review",
        run=number,
        seed=40 + number,
        trace_id=f"{number:032x}",
        state="completed",
        error=None,
        answer="The report holds up in most points; the claim on air quality is not supported by its sources.",
        time_used=max(map(_end, calls), default=0.0) / 1000,
        usable=True,
        passed=score >= 0.66,
        overall_score=score,
        grading=_by_code(agents[0], score),
        coordination_quality="high" if score >= 0.66 else "low",
        coordination_value=score,
        sub_scores=parts_of(score),
        metrics=metrics,
        findings=list(_findings(metrics, calls)),
        interactions=interactions_of(calls),
        calls=list(calls),
        latency=_latency(calls),
        steps=StepCounts(agent=len(calls), tool=len(calls) // 2, host=2),
        trace_integrity=TraceIntegrity(
            steps=len(calls),
            observed=known["observed"],
            corroborated=known["corroborated"],
            reported=known["reported"],
            completeness=1.0,
            observability="full",
            participants=[ParticipantObservability(agent=agent, observability="full") for agent in agents],
        ),
        judge=_judgment(score),
    )


def _by_code(agent: str, value: float) -> Grading:
    explanation = "names 3 of the 4 faults; the missing one is the claim on air quality"
    answers = [GradedAnswer(agent=agent, value=value, explanation=explanation)]
    return Grading(value=value, source="code", scorer="includes", reason=None, answers=answers)


def _parts(score: float) -> list[SubScore]:
    return [
        SubScore(id="task", value=None, weight=0.35, reason="nobody judged the outcome"),
        SubScore(id="communication", value=score, weight=0.35, reason=None),
        SubScore(id="distribution", value=score / 2, weight=0.1, reason=None),
        SubScore(id="reliability", value=1, weight=0.1, reason=None),
        SubScore(id="efficiency", value=min(1.0, score + 0.1), weight=0.1, reason=None),
    ]


def _judgment(score: float) -> Judgment:
    return Judgment(
        source="rules",
        reason="no key for a language model",
        overall_score=score,
        task_success=None,
        coordination_quality="high" if score >= 0.66 else "low",
        reasoning="Most agents talk to most others, and the work is spread fairly evenly between them.",
        strengths=["every agent takes part", "no call failed for good"],
        weaknesses=["the coordinator waits for both researchers before it asks anyone else"],
    )


def _agents(names: Sequence[str], trials: Sequence[TrialRecord]) -> list[AgentRecord]:
    flows = [flow for trial in trials for flow in trial.interactions]
    return [
        AgentRecord(
            id=name,
            url=f"http://127.0.0.1:{9021 + i}",
            agentbeats_id=None,
            functions=[name.partition("_")[0]],
            declared=True,
            calls_made=sum(flow.calls for flow in flows if flow.caller == name),
            calls_received=sum(flow.calls for flow in flows if flow.callee == name),
            errors_received=sum(flow.errors for flow in flows if flow.callee == name),
            latency_avg_ms=None,
        )
        for i, name in enumerate(names)
    ]


def row_of(names: Sequence[str], *trials: TrialRecord, **changes: object) -> ResultRow:
    """The row of these trials; `changes` go into its detail."""
    row, first = make_row(overall_score=fmean(trial.overall_score or 0.0 for trial in trials)), trials[0]
    judged = Counter(trial.grading.source for trial in trials if trial.grading is not None)
    detail = row.detail.model_copy(
        update={
            "assessment_id": "6d0c1b3e-57f2-4b8f-9f3c-0a4f5d1d7a11",
            "agents": _agents(names, trials),
            "trials": list(trials),
            "metrics": first.metrics,
            "findings": first.findings,
            "latency_metrics": first.latency,
            "trace_integrity": first.trace_integrity,
            "judge": first.judge,
            "reasoning": "" if first.judge is None else first.judge.reasoning,
            "strengths": [] if first.judge is None else first.judge.strengths,
            "weaknesses": [] if first.judge is None else first.judge.weaknesses,
            "coordination_quality": first.coordination_quality,
            "scoring": row.detail.scoring.model_copy(
                update={
                    "basis": "structure" if first.grading is None else "outcome",
                    "judged_by_code": judged["code"],
                    "judged_by_model": judged["model"],
                    "unjudged": judged["nobody"],
                    "score_high": 100 * fmean(_at_best(trial) for trial in trials),
                    "sub_scores": _mean_parts(trials),
                    "usable_trials": sum(trial.usable for trial in trials),
                    "passed_trials": sum(trial.passed is True for trial in trials),
                }
            ),
            **changes,
        }
    )
    score = None if judged["nobody"] == len(trials) else row.score
    whole = row.model_copy(
        update={"detail": detail, "score": score, "time_used": sum(trial.time_used for trial in trials)}
    )
    return whole.model_copy(update={"detail": detail.model_copy(update={"verdict": verdict_of(whole)})})


def _at_best(trial: TrialRecord) -> float:
    """The trial's score, or the best possible one if nobody judged it."""
    return 1.0 if trial.overall_score is None else trial.overall_score


def _mean_parts(trials: Sequence[TrialRecord]) -> list[SubScore]:
    """The parts of a row: each the mean over the trials in which it is defined."""
    parts: dict[str, list[SubScore]] = {}
    for part in (part for trial in trials for part in trial.sub_scores):
        parts.setdefault(part.id, []).append(part)
    return [_mean_part(of_trials) for of_trials in parts.values()]


def _mean_part(parts: Sequence[SubScore]) -> SubScore:
    defined = [part.value for part in parts if part.value is not None]
    return parts[0].model_copy(
        update={
            "value": fmean(defined) if defined else None,
            "reason": None if defined else parts[0].reason,
            "inputs": [MetricParameter(name="trials", value=f"{len(defined)}")],
        }
    )


def mesh_of_five() -> ResultRow:
    """Two concurrent researchers that each ask the reviewer, and a synthesizer that asks them; all within one call."""
    review = Call("reviewer", 120)
    asks = Call(
        "coordinator",
        90,
        [
            [
                Call("researcher_1", 260, [[review], [Call("synthesizer", 60)]]),
                Call("researcher_2", 420, [[review, Call("researcher_1", 80)]]),
            ],
            [Call("synthesizer", 240, [[Call("researcher_1", 70), Call("researcher_2", 110)], [review]])],
            [Call("reviewer", 200, [[Call("coordinator", 30)], [Call("synthesizer", 50), Call("researcher_2", 40)]])],
        ],
    )
    return row_of(FIVE, trial_of(FIVE, scheduled(asks), score=0.86))


def star_of_five() -> ResultRow:
    """Three trials of a hub that asks four agents in sequence; nobody else asks anyone."""
    hub, *spokes = FIVE
    trials = [
        trial_of(
            FIVE, scheduled(Call(hub, 60, [[Call(spoke, 100 + 40 * run)] for spoke in spokes])), number=run, score=score
        )
        for run, score in ((1, 0.52), (2, 0.71), (3, 0.49))
    ]
    label = {"coordination_quality": "bottleneck", "confidence": "insufficient"}
    return row_of(FIVE, *trials, **label)


def troubled_six() -> ResultRow:
    """Six agents, one of them isolated; failed calls, a trial that timed out, and infrastructure failures."""
    names = [*FIVE, "archivist"]
    down, slow = "the reviewer did not answer (HTTP 503)", "no answer within 2 s"
    asks = Call(
        "coordinator",
        150,
        [
            [
                Call("researcher_1", 300, [[Call("reviewer", 200, error=down)], [Call("reviewer", 80)]]),
                Call("researcher_2", 500),
            ],
            [
                Call("reviewer", 90, error=down),
                Call("synthesizer", 2000, [[Call("researcher_2", 600, error=slow)]], error=slow),
            ],
            [Call("synthesizer", 250)],
        ],
    )
    trial = trial_of(names, scheduled(asks), score=0.41)
    late = trial.trace_integrity.model_copy(update={"late": 3, "conflicting": 2, "dropped": 12, "completeness": 0.93})
    failed = trial_of(names, [], number=2, score=0.0).model_copy(
        update={"state": "timeout", "error": "no answer from the coordinator within 300 s", "answer": None}
    )
    return row_of(
        names,
        trial,
        failed,
        coordination_quality="low",
        confidence="insufficient",
        trace_integrity=late,
        infrastructure=[InfrastructureFailure(trial_id="trial-3", stage="evaluation", message="the worker was killed")],
        warnings=["unknown key in config: rooster", "2 steps were reported in different versions, which are ignored"],
    )


def ground_truth() -> ResultRow:
    """A chain of four, given as a pattern without times."""
    names = ["planner", "writer", "editor", "publisher"]
    timeless = {"start_ms": None, "duration_ms": None}
    calls = [
        _record(f"{i:016x}", None, caller, Call(callee), 0).model_copy(update=timeless)
        for i, (caller, callee) in enumerate(pairwise(names * 3), 1)
        if caller != names[-1]
    ]
    unseen = trial_of(names, calls, score=0.6)
    given = unseen.trace_integrity.model_copy(update={"observability": None, "participants": []})
    trial = unseen.model_copy(
        update={"answer": None, "judge": None, "grading": None, "sub_scores": _parts(0.6), "trace_integrity": given}
    )
    return row_of(names, trial, mode=Mode.GROUND_TRUTH, coordination_quality="medium")


def half_judged() -> ResultRow:
    """Three trials: code judged the first, a model the second, nobody the third."""
    hub, *others = FIVE
    first, second, third = (
        trial_of(FIVE, scheduled(Call(hub, 60, [[Call(each, 120 + run)] for each in others])), number=run, score=0.9)
        for run in (1, 2, 3)
    )
    return row_of(FIVE, first, _by_a_model(second), by_nobody(third))


def _by_a_model(trial: TrialRecord) -> TrialRecord:
    graded = Grading(value=0.5, source="model", scorer="model", reason=None, answers=[
        GradedAnswer(agent=FIVE[0], value=0.5, explanation="Two of the report's four faults are named."),
    ])  # fmt: skip
    return trial.model_copy(
        update={"grading": graded, "overall_score": 0.5, "passed": False, "sub_scores": parts_of(0.5)}
    )


def by_nobody(trial: TrialRecord) -> TrialRecord:
    """The same trial without a scorer, in an assessment without a judge."""
    reason = "the task has no scorer, and AGENTBEATS_LLM_API_KEY is not set"
    nobody = Grading(value=None, source="nobody", scorer=None, reason=reason)
    parts = [part.model_copy(update={"value": None, "reason": reason}) if part.id == "outcome" else part
             for part in trial.sub_scores]  # fmt: skip
    return trial.model_copy(update={"grading": nobody, "overall_score": None, "passed": None, "sub_scores": parts})


def unjudged_and_unseen() -> ResultRow:
    """An unjudged team in which the calls of two agents could not be observed."""
    asks = Call("coordinator", 90, [[Call("researcher_1", 200)], [Call("researcher_2", 120)]])
    trial = by_nobody(trial_of(FIVE, scheduled(asks)))
    partly = {"researcher_2": "partly", "reviewer": "none"}
    seen = [
        ParticipantObservability.model_validate({"agent": agent, "observability": partly.get(agent, "full")})
        for agent in FIVE
    ]
    integrity = trial.trace_integrity.model_copy(update={"observability": "partly", "participants": seen})
    return row_of(FIVE, trial.model_copy(update={"trace_integrity": integrity}))


def unseen() -> ResultRow:
    """An unobserved team: its answer is judged, its coordination is not."""
    names = ["planner", "writer"]
    undefined = {"coordination_quality": None, "coordination_status": MetricStatus.UNDEFINED}
    trial = trial_of(names, scheduled(Call("planner", 400)), score=0.5).model_copy(
        update={**undefined, "coordination_value": None, "findings": []}
    )
    hidden = [ParticipantObservability(agent=agent, observability="none") for agent in names]
    integrity = trial.trace_integrity.model_copy(update={"observability": "none", "participants": hidden})
    return row_of(names, trial.model_copy(update={"trace_integrity": integrity}), **undefined)


def lone_participant() -> ResultRow:
    """One participant alone: there is nobody to coordinate with."""
    alone = {"coordination_quality": None, "coordination_status": MetricStatus.NOT_APPLICABLE}
    trial = trial_of(["writer"], scheduled(Call("writer", 300)), score=0.7).model_copy(
        update={**alone, "coordination_value": None, "findings": []}
    )
    return row_of(["writer"], trial, **alone)


def recorded() -> ResultRow:
    """A recorded trace with an outcome; its calls were not observed."""
    trial = trial_of(FIVE, scheduled(Call(FIVE[0], 60, [[Call(each, 80)] for each in FIVE[1:]])), score=1.0)
    grading = Grading(value=1.0, source="recorded", scorer=None, reason=None)
    integrity = trial.trace_integrity.model_copy(update={"observability": None, "participants": []})
    row = row_of(
        FIVE,
        trial.model_copy(
            update={"grading": grading, "judge": None, "sub_scores": parts_of(1.0), "trace_integrity": integrity}
        ),
        mode=Mode.RECORDED,
    )
    scoring = row.detail.scoring.model_copy(update={"basis": "recorded", "judged_by_code": 0, "judged_by_record": 1})
    return row.model_copy(update={"detail": row.detail.model_copy(update={"scoring": scoring})})


def crowd(n: int = 40, asks: int = 160) -> ResultRow:
    """Many agents with long ids, and calls mostly between neighbours."""
    random = Random(7)  # noqa: S311
    names = [f"department-{i // 10}/analyst_{i:03}" for i in range(n)]

    def ask(i: int, depth: int) -> Call:
        step = random.choice([1, 1, 2, 3, n // 3])
        below = [[ask((i + step) % n, depth - 1)] for _ in range(random.randint(1, 2))] if depth else []
        error = "out of quota" if random.random() < 0.04 else None
        return Call(names[i], random.uniform(20, 200), below, error)

    calls = scheduled(*(ask(random.randrange(n), 3) for _ in range(asks // 8)))
    return row_of(names, trial_of(names, calls, score=0.7))


def all_with_all(n: int) -> ResultRow:
    """Every agent asks every other one."""
    names = [f"agent_{i:02}" for i in range(n)]
    calls = [
        _record(f"{i:016x}", None, caller, Call(callee), 10.0 * i).model_copy(update={"duration_ms": 25.0})
        for i, (caller, callee) in enumerate(permutations(names, 2))
    ]
    return row_of(names, trial_of(names, calls[:1000]).model_copy(update={"interactions": interactions_of(calls)}))


def silent_team() -> ResultRow:
    """Three agents without calls between them, apart from the assessor's own call."""
    names = ["planner", "writer", "editor"]
    return row_of(names, trial_of(names, scheduled(Call("planner", 400)), score=0.0), coordination_quality="low")
