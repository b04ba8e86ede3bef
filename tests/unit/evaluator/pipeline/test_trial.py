"""The pipeline: evaluators run after those that they need, and a trial's batches become its evaluation."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from graphlib import CycleError
from importlib.metadata import EntryPoint

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig, Mode, TaskSpec
from concord.trace.report import ReportBatch, StepBatch, pack
from concord_evaluator.graph import CallTally
from concord_evaluator.metrics import Parameter
from concord_evaluator.pipeline import (
    EVALUATORS,
    JUDGE,
    Contribution,
    Evaluator,
    Tier,
    TrialInput,
    evaluator,
)
from concord_evaluator.pipeline.evaluators import run_evaluators
from concord_evaluator.plugins import EVALUATOR_GROUP, BrokenPluginError
from tests.kit.graphs import agents, mesh, star
from tests.kit.packages import installed_packages
from tests.kit.traces import TRACE_ID, call, projected, reported_by, roster, tool
from tests.kit.trials import batch, batches_of, carried, evaluated, plan

TRIAL = TrialInput(projected(), roster("A"), AssessmentConfig())


def recording(ran: list[str], **needs: Collection[str]) -> dict[str, Evaluator]:
    """Evaluators by id, with the ids that each needs; each appends its id to `ran`."""

    def one(evaluator_id: str, needed: Collection[str]) -> Evaluator:
        @evaluator(evaluator_id, needs=needed)
        def evaluate(_: TrialInput, others: Mapping[str, Contribution]) -> Contribution:
            assert sorted(others) == sorted(needed)
            ran.append(evaluator_id)
            return Contribution()

        return evaluate

    return {evaluator_id: one(evaluator_id, needed) for evaluator_id, needed in needs.items()}


class TestOrder:
    def test_every_evaluator_runs_after_those_it_needs(self) -> None:
        ran: list[str] = []
        run_evaluators(recording(ran, a="c", b="", c="b"), TRIAL)
        assert ran == ["b", "c", "a"]

    def test_chosen_evaluators_run_with_those_they_need(self) -> None:
        contributions = run_evaluators(recording([], a="b", b="", c=""), TRIAL, {"a": {}, "nobody": {}})
        assert list(contributions) == ["b", "a"]

    def test_cyclic_needs_are_refused(self) -> None:
        with pytest.raises(CycleError):
            run_evaluators(recording([], a="b", b="a"), TRIAL)

    def test_an_unknown_need_is_refused(self) -> None:
        with pytest.raises(KeyError, match="z"):
            run_evaluators(recording([], a="z"), TRIAL)


def failing(tier: Tier) -> dict[str, Evaluator]:
    @evaluator("failing", tier=tier)
    def evaluate(_trial: TrialInput, _needed: Mapping[str, Contribution]) -> Contribution:
        raise RuntimeError("what it was about")

    return {"failing": evaluate}


class TestFailure:
    def test_a_failing_evaluator_beside_the_score_causes_a_warning_and_stops_no_other(self) -> None:
        contributions = run_evaluators(failing(3) | recording([], a=["failing"]), TRIAL)
        assert contributions["failing"] == Contribution(warnings=("the evaluator failing failed: RuntimeError",))
        assert "a" in contributions

    def test_an_evaluator_without_a_contribution_has_failed(self) -> None:
        broken = Evaluator("broken", lambda *_: None)  # type: ignore[arg-type]
        assert run_evaluators({"broken": broken}, TRIAL)["broken"].warnings == (
            "the evaluator broken failed: AttributeError",
        )

    @pytest.mark.parametrize("tier", [1, 2])
    def test_a_failing_evaluator_of_the_score_is_not_ignored(self, tier: Tier) -> None:
        with pytest.raises(RuntimeError):
            run_evaluators(failing(tier), TRIAL)


@pytest.mark.parametrize(("tier", "counts"), [(1, True), (2, True), (3, False)])
def test_contributions_to_the_score_count_only_from_its_own_tiers(tier: Tier, counts: bool) -> None:
    calls = CallTally(
        calls=1, failed_calls=0, attempts=1, failed_attempts=0, own_attempts=1, retries=0, comparable=0, repeats=0
    )
    made = Evaluator("eager", lambda *_: Contribution(call_tally=calls, warnings=("kept",)), tier)
    contributions = run_evaluators({"eager": made}, TRIAL)["eager"]
    assert (contributions.call_tally is not None, contributions.warnings) == (counts, ("kept",))


class TestParameters:
    @pytest.fixture
    def given(self) -> list[float]:
        return []

    def run(self, given: list[float], **params: float) -> tuple[str, ...]:
        @evaluator("sized", parameters={"size": Parameter(3, 1, 8)})
        def evaluate(_trial: TrialInput, _needed: Mapping[str, Contribution], size: float) -> Contribution:
            given.append(size)
            return Contribution()

        return run_evaluators({"sized": evaluate}, TRIAL, {"sized": params})["sized"].warnings

    def test_parameters_have_their_defaults_unless_given(self, given: list[float]) -> None:
        assert (self.run(given), self.run(given, size=4)) == ((), ())
        assert given == [3, 4]

    @pytest.mark.parametrize(
        ("params", "reason"), [({"size": 9}, "size must be from 1 to 8"), ({"depth": 1}, "it has no parameter 'depth'")]
    )
    def test_invalid_parameters_cause_a_warning_and_the_defaults_apply(
        self, given: list[float], params: dict[str, float], reason: str
    ) -> None:
        assert self.run(given, **params) == (f"the evaluator sized uses its defaults: {reason}",)
        assert given == [3]


LONELY = recording([], lonely=["missing"])["lonely"]
CYCLE_A, CYCLE_B = recording([], cycle_a=["cycle_b"], cycle_b=["cycle_a"]).values()
THEIRS = recording([], theirs=["graph"])["theirs"]
TAKEN = recording([], graph="")["graph"]
JUDGING = recording([], judge="")["judge"]
NONE = "a string"


class TestInstalled:
    @pytest.fixture(autouse=True)
    def packages(self, monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
        """The installed entry points, for a test to fill."""
        return installed_packages(monkeypatch, EVALUATORS)

    def test_without_packages_there_are_the_built_in_evaluators_with_their_tiers(self) -> None:
        assert {each.id: each.tier for each in EVALUATORS.installed.values()} == {"graph": 1, "latency": 2}
        assert list(EVALUATORS.installed) == ["graph", "latency"]

    def test_evaluators_of_packages_are_added(self, packages: list[EntryPoint]) -> None:
        packages.append(EntryPoint("theirs", f"{__name__}:THEIRS", EVALUATOR_GROUP))
        assert list(EVALUATORS.installed) == ["graph", "latency", "theirs"]

    @pytest.mark.parametrize(
        ("names", "reason"),
        [
            (["NONE"], "it is not an Evaluator"),
            (["MISSING"], "cannot be loaded: module .* has no attribute"),
            (["TAKEN"], "another evaluator is also called 'graph'"),
            (["JUDGING"], f"another evaluator is also called '{JUDGE}'"),
            (["LONELY"], "an evaluator needs 'missing', which is not installed"),
            (["CYCLE_A", "CYCLE_B"], "depend on each other in a cycle: .*cycle_a"),
        ],
    )
    def test_unusable_evaluators_of_a_package_are_refused(
        self, packages: list[EntryPoint], names: list[str], reason: str
    ) -> None:
        packages += [EntryPoint(name.lower(), f"{__name__}:{name}", EVALUATOR_GROUP) for name in names]
        with pytest.raises(BrokenPluginError, match=reason):
            _ = EVALUATORS.installed


class TestTrial:
    def test_a_silent_trial_is_evaluated(self) -> None:
        evaluation = evaluated(plan("ABC", reports=True), [])
        assert [tally.id for tally in evaluation.agents] == ["A", "B", "C"]
        assert evaluation.structure is not None
        assert evaluation.structure.coordination_quality == "low"
        assert evaluation.latency is not None
        assert evaluation.latency.n == 0

    def test_calls_are_counted_by_pair_and_agent(self) -> None:
        steps = [
            call("1", "B", latency=10),
            call("2", "B", error="busy", latency=20),
            call("3", "B", attributes={"retry_of": "2"}, latency=60),
            call("4", "C", error="down"),
        ]
        recorded = plan("ABC").model_copy(update={"mode": Mode.RECORDED})
        evaluation = evaluated(
            recorded, [batch(1, reported_by("A", *steps)), batch(2, reported_by("B", tool("5", parent="1")))]
        )
        to_b, to_c = evaluation.interactions
        assert (to_b.caller, to_b.callee, to_b.calls, to_b.errors, to_b.retries) == ("A", "B", 2, 0, 1)
        assert (to_b.observed, to_b.corroborated, to_b.reported) == (0, 1, 1)
        assert to_b.latency_avg_ms == pytest.approx(30.0)
        assert (to_c.callee, to_c.errors, to_c.latency_avg_ms) == ("C", 1, None)
        tallies = {
            tally.id: (tally.calls_made, tally.calls_received, tally.errors_received) for tally in evaluation.agents
        }
        assert tallies == {"A": (3, 0, 0), "B": (0, 2, 0), "C": (0, 1, 1)}

    def test_reports_after_closing_are_only_counted(self) -> None:
        batches = [
            *batches_of((agents(3), [("a00", "a01"), ("a00", "a02")])),
            batch(9, reported_by("a02", call("x", "a00"))),
        ]
        evaluation = evaluated(plan(agents(3)), batches, closed_after=2)
        assert [(record.caller, record.callee) for record in evaluation.interactions] == [
            ("a00", "a01"),
            ("a00", "a02"),
        ]
        assert (evaluation.trace_integrity.steps, evaluation.trace_integrity.late) == (2, 1)

    def test_dropped_steps_are_summed_over_reporters(self) -> None:
        batches = [
            batch(1, reported_by("A", call("1", "B")), dropped=3),
            batch(2, reported_by("B", tool("2")), dropped=4),
        ]
        assert evaluated(plan("AB"), batches).trace_integrity.dropped == 7

    def test_an_agent_whose_reports_are_unusable_is_not_silent(self) -> None:
        asked = batch(0, reported_by("A", call("1", "A")))
        contradictory = [
            batch(1, reported_by("B", tool("2"))),
            batch(2, reported_by("B", tool("2", attributes={"name": "other"}))),
        ]
        late = batch(1, reported_by("B", tool("2")))
        nothing = StepBatch(trace_id=TRACE_ID, reporter="B", steps=[]).model_dump_json().encode()
        dropped = replace(batch(1, reported_by("B", tool("2")), dropped=1), n_steps=0, body=pack(nothing))

        def silent_in(*batches: ReportBatch, closed_after: int | None = None) -> list[str]:
            trial = evaluated(plan("AB", reports=True), batches, closed_after=closed_after)
            return [agent for finding in trial.findings if finding.id == "silent" for agent in finding.agents]

        assert silent_in(asked) == ["B"]
        assert silent_in(asked, *contradictory) == silent_in(asked, dropped) == []
        assert silent_in(asked, late, closed_after=1) == []

    def test_calls_left_out_of_the_structure_cause_warnings(self) -> None:
        evaluation = evaluated(plan("AB"), [batch(1, reported_by("A", call("1", "A"), call("2", "", url="")))])
        assert len(evaluation.warnings) == 2

    def test_only_the_chosen_evaluators_and_metrics_run(self) -> None:
        evaluation = evaluated(
            plan(agents(3), config={"evaluators": ["graph"], "metrics": ["density"]}), batches_of(star(3))
        )
        assert [metric.id for metric in evaluation.metrics] == ["density"]
        assert [finding.id for finding in evaluation.findings] == ["bottleneck", "over_centralised"]
        assert evaluation.latency is None

    def test_a_disabled_evaluator_is_left_out(self) -> None:
        evaluation = evaluated(
            plan(agents(3), config={"evaluators": [{"id": "latency", "enabled": False}]}), batches_of(star(3))
        )
        assert evaluation.structure is not None
        assert evaluation.latency is None

    def test_warnings_of_evaluators_are_carried_over(self) -> None:
        config = {"evaluators": [{"id": "graph", "params": {"size": 1}}]}
        warnings = evaluated(plan(agents(3), config=config), batches_of(star(3))).warnings
        assert warnings == ["the evaluator graph uses its defaults: it has no parameter 'size'"]

    def test_a_given_pattern_has_its_own_agents(self) -> None:
        pattern = {"agents": ["x", "y"], "edges": [{"from": "x", "to": "y"}]}
        task = TaskSpec.model_validate({"id": "task-0", "interaction_pattern": pattern})
        evaluation = evaluated(plan("AB").model_copy(update={"tasks": [task]}), [])
        assert [tally.id for tally in evaluation.agents] == ["x", "y"]


CALLS = mesh(4)[1]


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(len(CALLS))), st.lists(st.integers(1, 4), min_size=len(CALLS)))
def test_the_split_of_steps_into_batches_does_not_matter(order: list[int], sizes: list[int]) -> None:
    whole = evaluated(plan(agents(4)), batches_of((agents(4), CALLS)))
    reports = [carried(number, *CALLS[number])[0] for number in order]
    batches: list[ReportBatch] = []
    while reports:
        size = sizes.pop()
        some = [report for report in reports[:size] if report.reporter == reports[0].reporter]
        batches.append(batch(len(batches), some))
        reports = [report for report in reports if report not in some]
    assert evaluated(plan(agents(4)), batches) == whole
