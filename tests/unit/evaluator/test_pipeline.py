"""The pipeline: evaluators after their needs, and a trial from its batches to its evaluation."""

from collections.abc import Mapping
from graphlib import CycleError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig, TaskSpec
from concord.reports import ReportBatch
from concord_evaluator.pipeline import Contribution, TrialInput, evaluator, evaluator_ids, registry, run_evaluators
from tests.unit.evaluator.graphs import agents, mesh, star
from tests.unit.evaluator.traces import call, projected, roster, told, tool
from tests.unit.evaluator.trials import batch, batches_of, evaluated, plan

TRIAL = TrialInput(projected(), roster("A"), AssessmentConfig())


@pytest.fixture
def own_evaluators(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty registry, and the order in which evaluators of it ran."""
    monkeypatch.setattr(registry, "_EVALUATORS", {})
    return []


def register(evaluator_id: str, needs: list[str], ran: list[str]) -> None:
    @evaluator(evaluator_id, needs=needs)
    def _evaluate(_: TrialInput, needed: Mapping[str, Contribution]) -> Contribution:
        assert sorted(needed) == sorted(needs)
        ran.append(evaluator_id)
        return Contribution()


class TestOrder:
    def test_every_evaluator_runs_after_those_it_needs(self, own_evaluators: list[str]) -> None:
        register("a", ["c"], own_evaluators)
        register("b", [], own_evaluators)
        register("c", ["b"], own_evaluators)
        run_evaluators(TRIAL)
        assert own_evaluators == ["b", "c", "a"]

    def test_what_the_chosen_ones_need_runs_too_and_nothing_else(self, own_evaluators: list[str]) -> None:
        register("a", ["b"], own_evaluators)
        register("b", [], own_evaluators)
        register("c", [], own_evaluators)
        assert list(run_evaluators(TRIAL, ["a", "nobody"])) == ["b", "a"]

    def test_needs_in_a_circle_are_refused(self, own_evaluators: list[str]) -> None:
        register("a", ["b"], own_evaluators)
        register("b", ["a"], own_evaluators)
        with pytest.raises(CycleError):
            run_evaluators(TRIAL)

    def test_a_need_that_nobody_fulfils_is_refused(self, own_evaluators: list[str]) -> None:
        register("a", ["nobody"], own_evaluators)
        with pytest.raises(KeyError, match="nobody"):
            run_evaluators(TRIAL)

    def test_two_evaluators_of_one_name_are_refused(self) -> None:
        assert "graph" in evaluator_ids()
        with pytest.raises(ValueError, match="graph"):
            register("graph", [], [])


class TestTrial:
    def test_in_silence_is_evaluated_all_the_same(self) -> None:
        evaluation = evaluated(plan("ABC"), [])
        assert [tally.id for tally in evaluation.agents] == ["A", "B", "C"]
        assert evaluation.structure is not None
        assert evaluation.structure.coordination_quality == "low"
        assert evaluation.latency is not None
        assert evaluation.latency.n == 0

    def test_counts_the_calls_of_every_pair_and_agent(self) -> None:
        steps = [
            call("1", "B", latency=10),
            call("2", "B", error="busy", latency=20),
            call("3", "B", attributes={"retry_of": "2"}, latency=60),
            call("4", "C", error="down"),
        ]
        evaluation = evaluated(plan("ABC"), [batch(1, told("A", *steps)), batch(2, told("B", tool("5", parent="1")))])
        to_b, to_c = evaluation.interactions
        assert (to_b.caller, to_b.callee, to_b.calls, to_b.errors, to_b.retries) == ("A", "B", 2, 0, 1)
        assert (to_b.observed, to_b.corroborated, to_b.reported) == (0, 1, 1)
        assert to_b.latency_avg_ms == pytest.approx(30.0)
        assert (to_c.callee, to_c.errors, to_c.latency_avg_ms) == ("C", 1, None)
        tallies = {
            tally.id: (tally.calls_made, tally.calls_received, tally.errors_received) for tally in evaluation.agents
        }
        assert tallies == {"A": (3, 0, 0), "B": (0, 2, 0), "C": (0, 1, 1)}

    def test_ends_when_it_was_closed_and_counts_what_came_later(self) -> None:
        batches = [*batches_of((agents(3), [("a00", "a01"), ("a00", "a02")])), batch(9, told("a02", call("x", "a00")))]
        evaluation = evaluated(plan(agents(3)), batches, closed_after=2)
        assert [(record.caller, record.callee) for record in evaluation.interactions] == [
            ("a00", "a01"),
            ("a00", "a02"),
        ]
        assert (evaluation.trace_integrity.steps, evaluation.trace_integrity.late) == (2, 1)

    def test_shows_what_reporters_had_to_drop(self) -> None:
        batches = [batch(1, told("A", call("1", "B")), dropped=3), batch(2, told("B", tool("2")), dropped=4)]
        assert evaluated(plan("AB"), batches).trace_integrity.dropped == 7

    def test_warns_of_calls_that_are_left_out_of_structure(self) -> None:
        evaluation = evaluated(plan("AB"), [batch(1, told("A", call("1", "A"), call("2", "", url="")))])
        assert len(evaluation.warnings) == 2

    def test_is_evaluated_by_the_chosen_evaluators_and_metrics(self) -> None:
        evaluation = evaluated(
            plan(agents(3), config={"evaluators": ["graph"], "metrics": ["density"]}), batches_of(star(3))
        )
        assert [metric.id for metric in evaluation.metrics] == ["density"]
        assert [finding.id for finding in evaluation.findings] == ["bottleneck", "over_centralised"]
        assert evaluation.latency is None

    def test_of_a_pattern_has_the_patterns_agents_and_not_the_participants(self) -> None:
        pattern = {"agents": ["x", "y"], "edges": [{"from": "x", "to": "y"}]}
        task = TaskSpec.model_validate({"id": "task-0", "interaction_pattern": pattern})
        evaluation = evaluated(plan("AB").model_copy(update={"tasks": [task]}), [])
        assert [tally.id for tally in evaluation.agents] == ["x", "y"]


CALLS = mesh(4)[1]


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(len(CALLS))), st.lists(st.integers(1, 4), min_size=len(CALLS)))
def test_how_steps_are_split_into_batches_changes_nothing(order: list[int], sizes: list[int]) -> None:
    whole = evaluated(plan(agents(4)), batches_of((agents(4), CALLS)))
    reports = [told(CALLS[number][0], call(f"{number:03}", CALLS[number][1]))[0] for number in order]
    batches: list[ReportBatch] = []
    while reports:
        size = sizes.pop()
        some = [report for report in reports[:size] if report.reporter == reports[0].reporter]
        batches.append(batch(len(batches), some))
        reports = [report for report in reports if report not in some]
    assert evaluated(plan(agents(4)), batches) == whole
