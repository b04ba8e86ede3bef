"""The row: means over usable trials, flags by majority, and nothing of the infrastructure held against agents."""

from itertools import permutations

import pytest

from concord.results import InfrastructureFailure, MetricStatus, ResultRow
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.scoring import SCORING_VERSION
from tests.unit.evaluator.graphs import Team, agents, disjoint_pairs, mesh, star
from tests.unit.evaluator.traces import url_of
from tests.unit.evaluator.trials import judged, outcome, plan


def row(*teams: Team, tasks: int = 1, **config: object) -> ResultRow:
    """The row of one trial per team, all of them of the agents of the first."""
    planned = plan(teams[0][0], trials=len(teams), tasks=tasks, config=config)
    verdicts = [judged(planned, team, outcome(f"trial-{n}")) for n, team in enumerate(teams, 1)]
    return make_row(planned, verdicts, [])


class TestOneTrial:
    def test_is_the_row(self) -> None:
        only = row(mesh(4))
        (trial,) = only.detail.trials
        assert only.detail.overall_score == only.task_rewards.overall_score == trial.overall_score == pytest.approx(1.0)
        assert (only.score, only.pass_rate, only.max_score, only.domain) == (100.0, 100.0, 100, "graph-assessment")
        assert (only.task_rewards.graph_density, only.task_rewards.coordination_quality) == (1.0, 1.0)
        assert only.time_used == 2.0
        assert only.detail.graph_metrics.coordination_quality == only.detail.coordination_quality == "high"
        assert (only.detail.graph_metrics.has_bottleneck, only.detail.graph_metrics.isolated_agents) == (False, [])
        assert only.detail.scoring.version == SCORING_VERSION

    def test_of_a_star_is_a_bottleneck_and_does_not_pass(self) -> None:
        only = row(star(5))
        assert (only.pass_rate, only.detail.coordination_quality) == (0.0, "bottleneck")
        assert only.detail.graph_metrics.has_bottleneck

    def test_of_a_single_agent_has_no_score_and_insufficient_confidence(self) -> None:
        only = row((agents(1), []))
        assert (only.score, only.pass_rate, only.detail.confidence) == (None, None, "insufficient")
        assert only.detail.graph_metrics.graph_density is None

    def test_names_every_agent_with_what_it_did(self) -> None:
        hub, *spokes = row(star(4)).detail.agents
        assert (hub.id, hub.url, hub.functions, hub.declared) == ("a00", url_of("a00"), ["reviewer"], True)
        assert (hub.calls_made, hub.calls_received, hub.latency_avg_ms) == (3, 0, None)
        assert [(s.calls_made, s.calls_received, s.latency_avg_ms) for s in spokes] == [(0, 1, 10.0)] * 3

    def test_warns_of_what_was_asked_for_in_vain(self) -> None:
        warnings = row(
            mesh(3), metrics=["density", "nonsense"], evaluators=["graph", "magic", "judge"], typo=1
        ).detail.warnings
        assert warnings == ["unknown config key: typo", "unknown evaluator: magic", "unknown metric: nonsense"]


class TestSeveralTrials:
    def test_are_averaged(self) -> None:
        both = row(mesh(4), (agents(4), []))
        assert both.score == pytest.approx(50.0)
        assert both.pass_rate == 50.0
        assert both.task_rewards.graph_density == pytest.approx(0.5)
        assert both.task_rewards.coordination_quality == pytest.approx(0.5)
        assert both.detail.coordination_quality == "medium"
        assert both.time_used == 4.0
        assert (both.detail.scoring.usable_trials, both.detail.scoring.passed_trials) == (2, 1)

    def test_flags_hold_in_more_than_half_of_them(self) -> None:
        silent: Team = (agents(4), [])
        tied, most = row(star(4), silent).detail.graph_metrics, row(star(4), star(4), silent).detail.graph_metrics
        assert (tied.has_bottleneck, most.has_bottleneck) == (False, True)
        assert most.coordination_quality == "bottleneck"
        pair = disjoint_pairs(4, 1)
        assert row(pair, mesh(4)).detail.graph_metrics.isolated_agents == []
        assert row(pair, pair, mesh(4)).detail.graph_metrics.isolated_agents == ["a02", "a03"]

    def test_latency_is_over_all_calls(self) -> None:
        planned = plan(agents(3), trials=2)
        pair: Team = (agents(3), [("a00", "a01")])
        verdicts = [
            judged(planned, pair, outcome("trial-1"), latency=10),
            judged(planned, mesh(3), outcome("trial-2"), latency=40),
        ]
        latency = make_row(planned, verdicts, []).detail.latency_metrics
        assert latency.n == 7
        assert latency.avg == pytest.approx((10 + 6 * 40) / 7)
        assert (latency.slowest_agent, latency.slowest_agent_url) == ("a00", url_of("a00"))

    def test_metrics_are_means_of_the_trials_that_have_them(self) -> None:
        metrics = {(m.id, m.agent): m for m in row(star(4), (agents(4), []), (agents(4), [])).detail.metrics}
        share, density = metrics["message_share", "a00"], metrics["density", None]
        assert (share.value, share.n, share.status) == (1.0, 1, MetricStatus.OK)
        assert density.value == pytest.approx(0.5 / 3)
        assert density.n == 3
        assert metrics["repeat_ratio", None].status is MetricStatus.UNDEFINED

    def test_findings_count_the_trials_that_have_them_most_frequent_first(self) -> None:
        findings = row(star(4), star(4), disjoint_pairs(4, 1)).detail.findings
        assert [(f.id, f.agents, f.trials) for f in findings][:2] == [
            ("bottleneck", ["a00"], 2),
            ("over_centralised", ["a00"], 3),
        ][::-1]

    def test_confidence_is_adequate_from_ten_different_tasks_on(self) -> None:
        assert row(*[mesh(3)] * 10, tasks=9).detail.confidence == "low"
        assert row(*[mesh(3)] * 10, tasks=10).detail.confidence == "adequate"

    def test_come_in_the_order_of_the_plan_whatever_the_order_of_verdicts(self) -> None:
        planned = plan(agents(3), trials=3)
        verdicts = [
            judged(planned, team, outcome(f"trial-{n}")) for n, team in enumerate((mesh(3), star(3), star(3)), 1)
        ]
        rows = {make_row(planned, order, []).model_dump_json() for order in permutations(verdicts)}
        assert len(rows) == 1

    def test_integrity_is_summed(self) -> None:
        integrity = row(mesh(3), star(3)).detail.trace_integrity
        assert (integrity.steps, integrity.reported, integrity.completeness) == (8, 8, 1.0)

    def test_the_judgments_are_merged_and_those_by_rules_say_so(self) -> None:
        merged = row(mesh(4), mesh(4), star(4)).detail.judge
        assert merged is not None
        assert (merged.source, merged.reason, merged.coordination_quality) == ("rules", "no model here", "high")

    def test_of_a_models_judgments_samples_are_summed_agreement_is_averaged_and_the_model_named(self) -> None:
        planned = plan(agents(3), trials=2)
        by_model = {"source": "llm", "reason": None, "model": "m", "prompt_version": "2", "samples": 3}
        verdicts = []
        for n, agreement, cached in ((1, 1.0, 0), (2, 0.5, 3)):
            verdict = judged(planned, mesh(3), outcome(f"trial-{n}"))
            assert verdict.record is not None
            assert verdict.record.judge is not None
            told = verdict.record.judge.model_copy(update=by_model | {"agreement": agreement, "cached_samples": cached})
            record = verdict.record.model_copy(update={"judge": told})
            verdicts.append(verdict.model_copy(update={"record": record}))
        merged = make_row(planned, verdicts, []).detail.judge
        assert merged is not None
        assert (merged.source, merged.model, merged.prompt_version) == ("llm", "m", "2")
        assert (merged.samples, merged.agreement, merged.cached_samples) == (6, 0.75, 3)


class TestInfrastructure:
    def test_failures_are_counted_and_never_scored(self) -> None:
        planned = plan(agents(4), trials=2)
        down = outcome("trial-2", state="failed", infrastructure=True, error="unreachable", answer=None)
        verdicts = [judged(planned, mesh(4), outcome("trial-1")), judged(planned, (agents(4), []), down)]
        partial = make_row(planned, verdicts, [])
        assert (partial.score, partial.pass_rate) == (100.0, 100.0)
        assert partial.detail.scoring.usable_trials == 1
        assert [trial.usable for trial in partial.detail.trials] == [True, False]
        assert partial.detail.infrastructure == [
            InfrastructureFailure(trial_id="trial-2", stage="trial", message="unreachable")
        ]

    def test_of_an_evaluation_stand_beside_those_that_were_told(self) -> None:
        planned = plan(agents(3), trials=3)
        failed = InfrastructureFailure(trial_id="trial-2", stage="evaluation", message="it broke")
        told = InfrastructureFailure(trial_id="trial-3", stage="trial", message="not started")
        verdicts = [judged(planned, mesh(3), outcome("trial-1")), JudgedTrial(state="failed", failure=failed)]
        assert make_row(planned, verdicts, [told]).detail.infrastructure == [told, failed]

    def test_a_trial_that_nobody_accounts_for_is_named(self) -> None:
        planned = plan(agents(3), trials=2)
        (failure,) = make_row(planned, [judged(planned, mesh(3), outcome("trial-1"))], []).detail.infrastructure
        assert (failure.trial_id, failure.stage) == ("trial-2", "evaluation")

    def test_an_evaluation_that_was_given_up_and_came_after_all_counts(self) -> None:
        planned = plan(agents(3))
        late = InfrastructureFailure(trial_id="trial-1", stage="evaluation", message="no result in time")
        only = make_row(planned, [judged(planned, mesh(3))], [late])
        assert (only.detail.infrastructure, only.score) == ([], 100.0)

    def test_alone_leaves_a_row_without_values(self) -> None:
        empty = make_row(plan(agents(3)), [], [])
        assert (empty.score, empty.pass_rate, empty.time_used) == (None, None, 0)
        assert empty.detail.graph_metrics.has_bottleneck is None
        assert [agent.id for agent in empty.detail.agents] == agents(3)
        assert empty.detail.confidence == "insufficient"


def test_several_tasks_give_intervals_and_the_chance_of_passing_again() -> None:
    team = mesh(3)
    given = plan(team[0], trials=8, tasks=4)
    verdicts = [judged(given, team, outcome(f"trial-{number + 1}")) for number in range(8)]
    statistics = make_row(given, verdicts, []).detail.statistics
    assert (statistics.scenarios, statistics.trials, statistics.score_method) == (4, 8, "clustered t")
    assert [(power.k, power.value) for power in statistics.pass_power] == [(1, 1.0), (2, 1.0)]
    assert statistics.pass_rate_low is not None
    assert 50 < statistics.pass_rate_low < 100
    assert (statistics.score_low, statistics.score_high) == pytest.approx((100, 100))


def test_one_trial_tells_nothing_of_the_spread() -> None:
    team = mesh(3)
    given = plan(team[0])
    statistics = make_row(given, [judged(given, team)], []).detail.statistics
    assert (statistics.trials, statistics.pass_rate_low, statistics.score_low) == (1, None, None)
