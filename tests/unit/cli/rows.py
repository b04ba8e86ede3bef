"""Result rows for display."""

from concord.assessment import Mode
from concord.assessment.result_row import (
    AgentRecord,
    Detail,
    GraphMetricsSummary,
    InfrastructureFailure,
    ResultRow,
    Scoring,
    TaskRewards,
)
from concord.assessment.results import (
    Finding,
    Grading,
    InteractionRecord,
    Judgment,
    LatencySummary,
    MetricRecord,
    MetricStatus,
    StepCounts,
    SubScore,
    TraceIntegrity,
    TrialRecord,
)
from tests.kit.rows import ONE_TRIAL, parts_of, scoring_of_one

BOTTLENECK = Finding(
    id="bottleneck",
    agents=["hub"],
    metric_id="betweenness",
    value=0.6,
    threshold=0.5,
    step_ids=[],
    advice="Let the spokes talk to each other.",
)

FAILURE = InfrastructureFailure(trial_id="trial-2", stage="evaluation", message="no worker")


def interaction(caller: str, callee: str, calls: int = 1, errors: int = 0) -> InteractionRecord:
    """Calls from one agent to another."""
    return InteractionRecord(
        caller=caller,
        callee=callee,
        calls=calls,
        errors=errors,
        retries=0,
        observed=calls,
        corroborated=0,
        reported=0,
        latency_avg_ms=1.0,
    )


def trial(*interactions: InteractionRecord, **changes: object) -> TrialRecord:
    """A trial that completed and was scored."""
    record = TrialRecord(
        trial_id="trial-1",
        task_id="task",
        run=1,
        seed=1,
        trace_id="0" * 31 + "1",
        state="completed",
        error=None,
        answer="done",
        time_used=1.0,
        usable=True,
        passed=True,
        overall_score=0.8,
        grading=Grading(value=0.8, source="code", scorer="includes", reason=None),
        coordination_quality="high",
        coordination_value=0.8,
        sub_scores=parts_of(0.8),
        metrics=[],
        findings=[],
        interactions=list(interactions),
        latency=LatencySummary(),
        steps=StepCounts(agent=1),
        trace_integrity=TraceIntegrity(),
        judge=None,
    )
    return record.model_copy(update=changes)


def unjudged(reason: str = "no scorer, and no key for a judge", **changes: object) -> TrialRecord:
    """A completed trial with an unjudged outcome."""
    nobody = Grading(value=None, source="nobody", scorer=None, reason=reason)
    return trial(
        **{
            "grading": nobody,
            "overall_score": None,
            "passed": None,
            "sub_scores": parts_of(None, reason=reason),
            **changes,
        }
    )


def on_structure(*, version: str, mode: Mode = Mode.LIVE) -> ResultRow:
    """A row whose score rests on structure: of version 1, or of a given pattern."""
    parts = [
        SubScore(id="communication", value=0.9, weight=0.5, reason=None),
        SubScore(id="task", value=None, weight=0.5, reason="no check was given"),
    ]
    scoring = Scoring(version=version, pass_threshold=0.66, usable_trials=1, passed_trials=1, sub_scores=parts)
    return row(mode=mode, scoring=scoring, trials=[trial(grading=None, sub_scores=parts)])


def agent(agent_id: str) -> AgentRecord:
    """An agent of the roster."""
    return AgentRecord(
        id=agent_id,
        url=None,
        agentbeats_id=None,
        functions=[],
        declared=True,
        calls_made=1,
        calls_received=1,
        errors_received=0,
        latency_avg_ms=None,
    )


def row(**changes: object) -> ResultRow:
    """A successful team, judged by code; `changes` replace fields of its detail."""
    density = MetricRecord(
        id="reciprocity", value=0.25, status=MetricStatus.OK, n=2, definition_id="reciprocity/1", engine="networkx"
    )
    detail = Detail(
        assessment_id="a",
        mode=Mode.LIVE,
        overall_score=0.8,
        reasoning="They share the work.",
        coordination_quality="high",
        confidence="adequate",
        strengths=["nobody is left out"],
        weaknesses=[],
        graph_metrics=GraphMetricsSummary(
            graph_density=0.75, has_bottleneck=False, isolated_agents=[], coordination_quality="high"
        ),
        latency_metrics=LatencySummary(avg=12, p50=11, p95=20, p99=21, n=8, slowest_agent="reviewer"),
        agents=[agent("hub"), agent("reviewer")],
        metrics=[density],
        findings=[],
        trials=[trial(interaction("hub", "reviewer", 2), interaction("reviewer", "hub", 1, errors=1))],
        judge=Judgment(
            source="rules",
            reason="no key",
            overall_score=0.8,
            task_success=None,
            coordination_quality="high",
            reasoning="They share the work.",
            strengths=[],
            weaknesses=[],
        ),
        scoring=scoring_of_one(0.8),
        statistics=ONE_TRIAL,
        trace_integrity=TraceIntegrity(steps=3),
        infrastructure=[],
        warnings=[],
    )
    return ResultRow(
        pass_rate=100,
        time_used=4.2,
        score=80,
        task_rewards=TaskRewards(overall_score=0.8, graph_density=0.75, coordination_quality=0.8),
        detail=detail.model_copy(update=changes),
    )
