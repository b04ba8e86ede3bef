"""Result rows for tests that need any valid row."""

from concord.assessment import Mode
from concord.assessment.result_row import Detail, GraphMetricsSummary, ResultRow, Scoring, Statistics, TaskRewards
from concord.assessment.results import LatencySummary, SubScore, TraceIntegrity

ONE_TRIAL = Statistics(
    scenarios=1,
    trials=1,
    pass_rate_low=None,
    pass_rate_high=None,
    score_low=None,
    score_high=None,
    score_method=None,
    pass_power=[],
)
"""The statistics of one trial, which says nothing about the spread."""


def parts_of(outcome: float | None, proven: float | None = None, *, reason: str | None = None) -> list[SubScore]:
    """The parts of an outcome score; `reason`: why there is no outcome."""
    parts = [SubScore(id="outcome", value=outcome, weight=1, reason=reason)]
    return parts if proven is None else [*parts, SubScore(id="proven", value=proven, weight=1, reason=None)]


def scoring_of_one(overall_score: float) -> Scoring:
    """The scoring of one passed trial that code judged."""
    return Scoring(
        version="3",
        basis="outcome",
        pass_threshold=0.66,
        usable_trials=1,
        passed_trials=1,
        judged_by_code=1,
        score_high=100 * overall_score,
        sub_scores=parts_of(overall_score),
    )


def make_row(*, time_used: float = 1.0, overall_score: float = 0.8) -> ResultRow:
    """A row of one usable trial with this score, judged by code."""
    graph = GraphMetricsSummary(
        graph_density=1.0, has_bottleneck=False, isolated_agents=[], coordination_quality="high"
    )
    detail = Detail(
        assessment_id="a1",
        mode=Mode.LIVE,
        overall_score=overall_score,
        reasoning="A test's row.",
        coordination_quality="high",
        confidence="low",
        strengths=[],
        weaknesses=[],
        graph_metrics=graph,
        latency_metrics=LatencySummary(),
        agents=[],
        metrics=[],
        findings=[],
        trials=[],
        judge=None,
        scoring=scoring_of_one(overall_score),
        statistics=ONE_TRIAL,
        trace_integrity=TraceIntegrity(),
        infrastructure=[],
        warnings=[],
    )
    rewards = TaskRewards(overall_score=overall_score, graph_density=1.0, coordination_quality=0.9)
    return ResultRow(pass_rate=100, time_used=time_used, score=100 * overall_score, task_rewards=rewards, detail=detail)
