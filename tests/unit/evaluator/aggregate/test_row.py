"""The row: means over usable trials, flags by majority, and no infrastructure failure counts against agents."""

from itertools import permutations

import pytest

from concord.assessment import AssessmentPlan, Thresholds
from concord.assessment.jobs import TrialVerdict
from concord.assessment.result_row import InfrastructureFailure, Loss, ResultRow, Shard
from concord.assessment.results import MetricStatus
from concord_evaluator.aggregate import make_row
from concord_evaluator.aggregate.team import NOT_BETWEEN, TO_BE_OBSERVED
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.pipeline import verdict_on
from concord_evaluator.scoring import SCORING_VERSION
from concord_gateway.assessment_record import with_replays
from tests.kit.graphs import Team, agents, disjoint_pairs, mesh, star
from tests.kit.traces import call, reported_by, url_of
from tests.kit.trials import batch, evaluated, judged, outcome, plan


def row(*teams: Team, tasks: int = 1, reports: bool = False, **config: object) -> ResultRow:
    """The row of one trial per team; every team has the agents of the first."""
    planned = plan(teams[0][0], trials=len(teams), tasks=tasks, reports=reports, config=config)
    verdicts = [judged(planned, team, outcome(f"trial-{n}")) for n, team in enumerate(teams, 1)]
    return make_row(planned, verdicts, [])


def claimed(planned: AssessmentPlan, number: int, caller: str, callee: str) -> JudgedTrial:
    """The verdict on a trial in which the caller reports a call to the callee's own address."""
    reports = reported_by(caller, call(f"{number:04}", callee))
    evaluation = evaluated(planned, [batch(number, reports)], outcome(f"trial-{number}"))
    return verdict_on(planned, evaluation, judge_by_rules(evaluation, planned.mode, "no model here"))


class TestCallsPastTheGateway:
    def test_they_are_named_once_for_all_trials_with_a_remedy(self) -> None:
        planned = plan(agents(3), trials=2).model_copy(update={"observed": True})
        first, second, _ = agents(3)
        warnings = make_row(planned, [claimed(planned, n, first, second) for n in (1, 2)], []).detail.warnings
        assert f"calls past the gateway, reported by participants alone: {first} to {second} (2)" in warnings
        assert TO_BE_OBSERVED in warnings

    def test_a_trial_whose_calls_the_gateway_carried_has_no_such_warning(self) -> None:
        planned = plan(agents(3)).model_copy(update={"observed": True})
        assert TO_BE_OBSERVED not in make_row(planned, [judged(planned, mesh(3))], []).detail.warnings


class TestOneTrial:
    def test_the_row_of_one_trial_has_its_values(self) -> None:
        only = row(mesh(4))
        (trial,) = only.detail.trials
        assert only.detail.overall_score == only.task_rewards.overall_score == trial.overall_score == pytest.approx(1.0)
        assert (only.score, only.pass_rate, only.max_score, only.domain) == (100.0, 100.0, 100, "graph-assessment")
        assert (only.task_rewards.graph_density, only.task_rewards.coordination_quality) == (1.0, 1.0)
        assert only.time_used == 2.0
        assert only.detail.graph_metrics.coordination_quality == only.detail.coordination_quality == "high"
        assert (only.detail.graph_metrics.has_bottleneck, only.detail.graph_metrics.isolated_agents) == (False, [])
        assert only.detail.scoring.version == SCORING_VERSION

    def test_a_star_is_labelled_a_bottleneck_and_passes(self) -> None:
        only = row(star(5))
        assert (only.score, only.pass_rate, only.detail.coordination_quality) == (100.0, 100.0, "bottleneck")
        assert only.detail.graph_metrics.has_bottleneck

    def test_a_lone_participant_is_scored_by_its_outcome_and_has_no_label(self) -> None:
        only = row((agents(1), []))
        assert (only.score, only.pass_rate, only.detail.confidence) == (100.0, 100.0, "insufficient")
        assert (only.detail.coordination_quality, only.detail.coordination_status) == (None, "not_applicable")
        assert only.detail.trials[0].coordination_status == "not_applicable"
        assert only.detail.graph_metrics.graph_density is None

    def test_the_row_names_the_basis_and_the_parts_of_the_score(self) -> None:
        scoring = row(mesh(4)).detail.scoring
        assert (scoring.version, scoring.basis, scoring.judged_by_code, scoring.unjudged) == ("3", "outcome_only", 1, 0)
        assert [(part.id, part.value) for part in scoring.sub_scores] == [("outcome", 1.0)]

    def test_a_trial_without_an_answer_scores_0_even_without_a_judge(self) -> None:
        for answer in (None, "", "  \n"):
            planned = plan(agents(3), graded=False)
            only = make_row(planned, [judged(planned, mesh(3), outcome(answer=answer))], [])
            assert (only.score, only.detail.scoring.unjudged) == (0.0, 0)

    def test_an_unobserved_team_has_no_label_and_a_warning_with_the_remedy(self) -> None:
        only = row((agents(3), []))
        assert only.detail.trace_integrity.observability == "none"
        assert [each.observability for each in only.detail.trace_integrity.participants] == ["none"] * 3
        assert (only.detail.coordination_quality, only.detail.coordination_status) == (None, "undefined")
        assert (only.task_rewards.graph_density, only.task_rewards.coordination_quality) == (None, None)
        assert only.detail.findings == []
        assert all(metric.value is None and metric.reason for metric in only.detail.metrics)
        assert ["/peers" in warning for warning in only.detail.warnings] == [False, True]
        assert only.detail.warnings[0] == NOT_BETWEEN

    def test_a_team_behind_the_gateway_is_not_told_that_the_gateway_could_not_see_it(self) -> None:
        planned = plan(agents(3)).model_copy(update={"observed": True})
        only = make_row(planned, [judged(planned, (agents(3), []))], [])
        assert NOT_BETWEEN not in only.detail.warnings
        assert only.score == 100.0

    def test_configured_weights_have_no_effect_and_cause_a_warning(self) -> None:
        weighed = row(mesh(3), weights={"communication": 1.0})
        assert weighed.score == row(mesh(3)).score
        assert [warning for warning in weighed.detail.warnings if warning.startswith("config.weights has no effect")]

    def test_the_row_lists_every_agent_with_its_calls(self) -> None:
        hub, *spokes = row(star(4)).detail.agents
        assert (hub.id, hub.url, hub.functions, hub.declared) == ("a00", url_of("a00"), ["reviewer"], True)
        assert (hub.calls_made, hub.calls_received, hub.latency_avg_ms) == (3, 0, None)
        assert [(s.calls_made, s.calls_received, s.latency_avg_ms) for s in spokes] == [(0, 1, 10.0)] * 3

    def test_unknown_keys_evaluators_and_metrics_cause_warnings(self) -> None:
        warnings = row(
            mesh(3), metrics=["density", "nonsense"], evaluators=["graph", "magic", "judge"], num_run=1
        ).detail.warnings
        assert warnings == [
            "config.num_run: unknown key; did you mean `num_runs`?",
            "unknown evaluator: magic",
            "unknown metric: nonsense",
        ]


class TestSeveralTrials:
    def test_scores_and_metrics_are_averaged_over_trials(self) -> None:
        both = row(mesh(4), disjoint_pairs(4, 1))
        assert both.score == pytest.approx(100.0)
        assert both.pass_rate == 100.0
        assert both.task_rewards.graph_density == pytest.approx((1 + 1 / 6) / 2)
        assert both.detail.coordination_quality == "medium"
        assert both.time_used == 4.0
        assert (both.detail.scoring.usable_trials, both.detail.scoring.passed_trials) == (2, 2)
        unseen = row(mesh(4), (agents(4), []))
        assert (unseen.score, unseen.pass_rate, unseen.detail.scoring.passed_trials) == (100.0, 100.0, 2)

    def test_a_flag_needs_more_than_half_of_the_trials(self) -> None:
        other = mesh(4)
        tied, most = row(star(4), other).detail.graph_metrics, row(star(4), star(4), other).detail.graph_metrics
        assert (tied.has_bottleneck, most.has_bottleneck) == (False, True)
        assert most.coordination_quality == "bottleneck"
        pair = disjoint_pairs(4, 1)
        assert row(pair, mesh(4), reports=True).detail.graph_metrics.isolated_agents == []
        assert row(pair, pair, mesh(4), reports=True).detail.graph_metrics.isolated_agents == ["a02", "a03"]
        assert row(pair, pair, mesh(4)).detail.graph_metrics.isolated_agents == []

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
        metrics = {(m.id, m.agent): m for m in row(star(4), (agents(4), []), mesh(4)).detail.metrics}
        share, density = metrics["message_share", "a00"], metrics["density", None]
        assert (share.value, share.n, share.status) == (0.75, 2, MetricStatus.OK)
        assert density.value == pytest.approx((0.5 + 1) / 2)
        assert density.n == 2

    def test_findings_count_the_trials_that_have_them_most_frequent_first(self) -> None:
        findings = row(star(4), star(4), disjoint_pairs(4, 1)).detail.findings
        assert [(f.id, f.agents, f.trials) for f in findings][:2] == [
            ("bottleneck", ["a00"], 2),
            ("over_centralised", ["a00"], 3),
        ][::-1]

    def test_confidence_in_scores_that_do_not_scatter_is_adequate_from_seventeen_tasks_on(self) -> None:
        assert row(*[mesh(3)] * 17, tasks=16).detail.confidence == "low"
        assert row(*[mesh(3)] * 17, tasks=17).detail.confidence == "adequate"

    def test_the_order_of_verdicts_does_not_matter(self) -> None:
        planned = plan(agents(3), trials=3)
        verdicts = [
            judged(planned, team, outcome(f"trial-{n}")) for n, team in enumerate((mesh(3), star(3), star(3)), 1)
        ]
        rows = {make_row(planned, order, []).model_dump_json() for order in permutations(verdicts)}
        assert len(rows) == 1

    def test_trace_integrity_is_summed_over_trials(self) -> None:
        integrity = row(mesh(3), star(3)).detail.trace_integrity
        assert (integrity.steps, integrity.observed, integrity.completeness) == (8, 8, 1.0)
        assert integrity.observability == "partly"
        assert {each.agent: each.observability for each in integrity.participants} == {
            "a00": "full",
            "a01": "partly",
            "a02": "partly",
        }

    def test_judgments_by_rules_are_merged_and_labelled_as_such(self) -> None:
        merged = row(mesh(4), mesh(4), star(4)).detail.judge
        assert merged is not None
        assert (merged.source, merged.reason, merged.coordination_quality) == ("rules", "no model here", "high")

    def test_merged_model_judgments_sum_samples_average_agreement_and_name_the_model(self) -> None:
        planned = plan(agents(3), trials=2)
        by_model = {"source": "llm", "reason": None, "model": "m", "prompt_version": "2", "samples": 3}
        verdicts = []
        for n, agreement, cached in ((1, 1.0, 0), (2, 0.5, 3)):
            verdict = judged(planned, mesh(3), outcome(f"trial-{n}"))
            assert verdict.record.judge is not None
            judgment = verdict.record.judge.model_copy(
                update=by_model | {"agreement": agreement, "cached_samples": cached}
            )
            record = verdict.record.model_copy(update={"judge": judgment})
            verdicts.append(verdict.model_copy(update={"record": record}))
        merged = make_row(planned, verdicts, []).detail.judge
        assert merged is not None
        assert (merged.source, merged.model, merged.prompt_version) == ("llm", "m", "2")
        assert (merged.samples, merged.agreement, merged.cached_samples) == (6, 0.75, 3)


class TestUnjudged:
    def test_unjudged_trials_count_0_in_the_score_and_1_in_its_upper_bound(self) -> None:
        planned = plan(agents(3), trials=4, tasks=4)
        ungraded = plan(agents(3), trials=4, tasks=4, graded=False)
        verdicts = [judged(planned if n < 4 else ungraded, mesh(3), outcome(f"trial-{n}")) for n in range(1, 5)]
        partly = make_row(planned, verdicts, [])
        scoring = partly.detail.scoring
        assert (partly.score, scoring.score_high, partly.pass_rate) == (75.0, 100.0, 75.0)
        assert (scoring.judged_by_code, scoring.unjudged, scoring.usable_trials) == (3, 1, 4)
        low, high = partly.detail.statistics.score_low, partly.detail.statistics.score_high
        assert low is not None
        assert low < 75
        assert high == 100.0
        assert partly.detail.trials[3].overall_score is None
        assert partly.detail.trials[3].grading is not None
        assert partly.detail.trials[3].grading.reason == "no model here"

    def test_a_wholly_unjudged_row_has_no_score_and_no_interval(self) -> None:
        planned = plan(agents(3), trials=2, graded=False)
        none = make_row(planned, [judged(planned, mesh(3), outcome(f"trial-{n}")) for n in (1, 2)], [])
        assert (none.score, none.pass_rate, none.detail.overall_score) == (None, None, None)
        assert (none.detail.scoring.score_high, none.detail.scoring.unjudged) == (None, 2)
        assert (none.detail.statistics.score_low, none.detail.statistics.trials) == (None, 0)

    def test_a_trial_without_an_evaluation_counts_as_unjudged(self) -> None:
        planned = plan(agents(3), trials=2)
        late = InfrastructureFailure(trial_id="trial-2", stage="evaluation", message="no result in time")
        for failures in ([], [late]):
            lost = make_row(planned, [judged(planned, mesh(3), outcome("trial-1"))], failures)
            assert (lost.score, lost.detail.scoring.score_high, lost.detail.scoring.unjudged) == (50.0, 100.0, 1)


class TestInfrastructure:
    def test_a_trial_lost_to_storage_is_listed_and_counts_as_unknown(self) -> None:
        planned = plan(agents(4), trials=2)
        down = InfrastructureFailure(trial_id="trial-2", stage="trial", message="storage is away")
        partial = make_row(planned, [judged(planned, mesh(4), outcome("trial-1"))], [down])
        assert (partial.score, partial.detail.scoring.score_high, partial.pass_rate) == (50.0, 100.0, 50.0)
        assert (partial.detail.scoring.usable_trials, partial.detail.scoring.complete) == (1, False)
        assert partial.detail.infrastructure == [down]

    def test_a_trial_that_its_participants_lost_does_not_pass_with_any_mark(self) -> None:
        planned = plan(agents(2))
        config = planned.config.model_copy(update={"thresholds": Thresholds.model_validate({"pass": 0})})
        planned = planned.model_copy(update={"config": config})
        theirs = InfrastructureFailure(trial_id="trial-1", stage="trial", message="full", caused_by="participants")
        [record] = make_row(planned, [], [theirs]).detail.trials
        assert (record.passed, record.overall_score, record.state) == (False, 0, "failed")
        assert record.coordination_status is MetricStatus.UNDEFINED

    @pytest.mark.parametrize("judged_first", [True, False])
    def test_a_trial_that_its_participants_lost_is_known_to_be_0(self, judged_first: bool) -> None:
        planned = plan(agents(4), trials=2)
        lost, found = ("trial-2", "trial-1") if judged_first else ("trial-1", "trial-2")
        theirs = InfrastructureFailure(
            trial_id=lost, stage="trial", message="storage is full", loss=Loss.STORAGE_FULL, caused_by="participants"
        )
        row = make_row(planned, [judged(planned, mesh(4), outcome(found))], [theirs])
        scoring = row.detail.scoring
        assert (row.score, scoring.score_high, row.pass_rate, scoring.unjudged) == (50.0, 50.0, 50.0, 0)
        assert (scoring.forfeited, scoring.complete, scoring.usable_trials) == (1, True, 2)
        assert [trial.trial_id for trial in row.detail.trials] == ["trial-1", "trial-2"]

    def test_a_team_that_lost_all_trials_scores_0(self) -> None:
        planned = plan(agents(4))
        theirs = InfrastructureFailure(
            trial_id="trial-1", stage="trial", message="storage is full", caused_by="participants"
        )
        row = make_row(planned, [], [theirs])
        assert (row.score, row.detail.scoring.score_high, row.pass_rate) == (0.0, 0.0, 0.0)

    def test_a_first_attempt_that_was_lost_is_listed_and_does_not_explain_the_lost_second(self) -> None:
        planned = with_replays(plan(agents(3)), ["trial-1"])
        first = InfrastructureFailure(trial_id="trial-1", stage="trial", message="storage is away", caused_by="concord")
        ended = make_row(planned, [judged(planned, mesh(3))], [first]).detail
        assert (ended.infrastructure, ended.scoring.replayed, ended.scoring.complete) == ([first], 1, True)
        missing = make_row(planned, [], [first]).detail.infrastructure
        assert [(each.attempt, each.stage) for each in missing] == [(1, "trial"), (2, "evaluation")]

    def test_a_trial_in_which_the_team_failed_is_scored(self) -> None:
        planned = plan(agents(4), trials=2)
        broken = outcome("trial-2", state="failed", error="the stream broke", answer=None)
        row = make_row(planned, [judged(planned, mesh(4), outcome("trial-1")), judged(planned, mesh(4), broken)], [])
        assert (row.score, row.pass_rate, row.detail.infrastructure) == (50.0, 50.0, [])

    def test_a_missing_participant_is_listed_and_warned_of(self) -> None:
        planned = plan(agents(3))
        missing = InfrastructureFailure(trial_id=None, stage="contact", message="could not be reached: a02 (http://x)")
        row = make_row(planned, [judged(planned, mesh(3))], [missing])
        assert (row.detail.infrastructure, row.detail.warnings) == ([missing], [missing.message])

    def test_failed_evaluations_are_listed_with_other_failures(self) -> None:
        planned = plan(agents(3), trials=3)
        failed = InfrastructureFailure(trial_id="trial-2", stage="evaluation", message="it broke")
        trial_failure = InfrastructureFailure(trial_id="trial-3", stage="trial", message="storage is away")
        verdicts = [judged(planned, mesh(3), outcome("trial-1")), TrialVerdict(failure=failed)]
        assert make_row(planned, verdicts, [trial_failure]).detail.infrastructure == [trial_failure, failed]

    def test_a_trial_without_a_verdict_is_listed_as_a_failure(self) -> None:
        planned = plan(agents(3), trials=2)
        (failure,) = make_row(planned, [judged(planned, mesh(3), outcome("trial-1"))], []).detail.infrastructure
        assert (failure.trial_id, failure.stage) == ("trial-2", "evaluation")

    def test_a_late_evaluation_counts_and_its_failure_is_removed(self) -> None:
        planned = plan(agents(3))
        late = InfrastructureFailure(trial_id="trial-1", stage="evaluation", message="no result in time")
        only = make_row(planned, [judged(planned, mesh(3))], [late])
        assert (only.detail.infrastructure, only.score) == ([], 100.0)

    def test_a_row_without_verdicts_has_no_values(self) -> None:
        empty = make_row(plan(agents(3)), [], [])
        assert (empty.score, empty.pass_rate, empty.time_used) == (None, None, 0)
        assert empty.detail.graph_metrics.has_bottleneck is None
        assert [agent.id for agent in empty.detail.agents] == agents(3)
        assert empty.detail.confidence == "insufficient"


def test_several_tasks_yield_intervals_and_pass_powers() -> None:
    team = mesh(3)
    given = plan(team[0], trials=8, tasks=4)
    verdicts = [judged(given, team, outcome(f"trial-{number + 1}")) for number in range(8)]
    statistics = make_row(given, verdicts, []).detail.statistics
    assert (statistics.scenarios, statistics.trials, statistics.score_method) == (4, 8, "no scatter")
    assert [(power.k, power.value) for power in statistics.pass_power] == [(1, 1.0), (2, 1.0)]
    assert statistics.pass_rate_low is not None
    assert 50 < statistics.pass_rate_low < 100
    assert (statistics.score_low, statistics.score_high) == pytest.approx((100 * 0.025**0.25, 100))


def test_one_trial_yields_no_intervals() -> None:
    team = mesh(3)
    given = plan(team[0])
    statistics = make_row(given, [judged(given, team)], []).detail.statistics
    assert (statistics.trials, statistics.pass_rate_low, statistics.score_low) == (1, None, None)


def test_a_row_of_a_shard_says_which_of_how_many_it_is_of_what_plan() -> None:
    whole = plan(agents(3), trials=0)
    parts = [
        whole.model_copy(
            update={"config": whole.config.model_copy(update={"num_shards": 2, "shard_index": number, "seed": seed})}
        )
        for number, seed in ((0, 7), (1, 7), (1, 8))
    ]
    details = [make_row(part, [], []).detail for part in parts]
    first, second, other = (Shard.model_validate(each.shard) for each in details)
    assert (first.shard_index, second.shard_index, first.num_shards) == (0, 1, 2)
    assert first.plan_sha256 == second.plan_sha256 != other.plan_sha256
    assert "this is shard 1 of 2: its figures are of a part of the assessment" in details[1].warnings


def test_a_shard_without_trials_yields_an_empty_row() -> None:
    given = plan(agents(3), trials=0)
    empty = make_row(given, [], [])
    assert (empty.score, empty.pass_rate, empty.time_used, empty.detail.trials) == (None, None, 0, [])
    assert (empty.detail.scoring.usable_trials, empty.detail.scoring.unjudged) == (0, 0)
