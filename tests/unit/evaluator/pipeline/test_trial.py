"""The pipeline: evaluators after their needs, and a trial from its batches to its evaluation."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig, Mode, TaskSpec
from concord.trace.report import ReportBatch, StepBatch, pack
from concord_evaluator.graph import CallTally
from concord_evaluator.metrics import Parameter
from concord_evaluator.pipeline import (
    ENTRY_POINT_GROUP,
    JUDGE,
    BrokenEvaluatorError,
    Contribution,
    Evaluator,
    Tier,
    TrialInput,
    evaluator,
    evaluator_ids,
    installed_evaluators,
    registry,
    run_evaluators,
)
from tests.unit.evaluator.graphs import agents, mesh, star
from tests.unit.evaluator.traces import TRACE_ID, call, projected, roster, told, tool
from tests.unit.evaluator.trials import batch, batches_of, carried, evaluated, plan

TRIAL = TrialInput(projected(), roster("A"), AssessmentConfig())


def recording(ran: list[str], **needs: Collection[str]) -> dict[str, Evaluator]:
    """Evaluators by their ids, each with the ids that it needs, which write down in what order they ran."""

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

    def test_what_the_chosen_ones_need_runs_too_and_nothing_else(self) -> None:
        done = run_evaluators(recording([], a="b", b="", c=""), TRIAL, {"a": {}, "nobody": {}})
        assert list(done) == ["b", "a"]

    def test_needs_in_a_circle_are_refused(self) -> None:
        with pytest.raises(CycleError):
            run_evaluators(recording([], a="b", b="a"), TRIAL)

    def test_a_need_that_nobody_fulfils_is_refused(self) -> None:
        with pytest.raises(KeyError, match="z"):
            run_evaluators(recording([], a="z"), TRIAL)


def failing(tier: Tier) -> dict[str, Evaluator]:
    @evaluator("failing", tier=tier)
    def evaluate(_trial: TrialInput, _needed: Mapping[str, Contribution]) -> Contribution:
        raise RuntimeError("what it was about")

    return {"failing": evaluate}


class TestFailure:
    def test_of_what_stands_beside_the_score_costs_no_other_its_place_and_is_told(self) -> None:
        done = run_evaluators(failing(3) | recording([], a=["failing"]), TRIAL)
        assert done["failing"] == Contribution(warnings=("the evaluator failing failed: RuntimeError",))
        assert "a" in done

    def test_to_contribute_anything_at_all_is_one(self) -> None:
        broken = Evaluator("broken", lambda *_: None)  # type: ignore[arg-type]
        assert run_evaluators({"broken": broken}, TRIAL)["broken"].warnings == (
            "the evaluator broken failed: AttributeError",
        )

    @pytest.mark.parametrize("tier", [1, 2])
    def test_of_what_the_score_stands_on_is_not_scored_away(self, tier: Tier) -> None:
        with pytest.raises(RuntimeError):
            run_evaluators(failing(tier), TRIAL)


@pytest.mark.parametrize(("tier", "counts"), [(1, True), (2, True), (3, False)])
def test_what_the_score_is_made_from_comes_from_no_evaluator_beside_it(tier: Tier, counts: bool) -> None:
    calls = CallTally(
        calls=1, failed_calls=0, attempts=1, failed_attempts=0, own_attempts=1, retries=0, comparable=0, repeats=0
    )
    made = Evaluator("eager", lambda *_: Contribution(calls=calls, warnings=("kept",)), tier)
    done = run_evaluators({"eager": made}, TRIAL)["eager"]
    assert (done.calls is not None, done.warnings) == (counts, ("kept",))


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

    def test_have_their_defaults_unless_they_are_given(self, given: list[float]) -> None:
        assert (self.run(given), self.run(given, size=4)) == ((), ())
        assert given == [3, 4]

    @pytest.mark.parametrize(
        ("params", "reason"), [({"size": 9}, "size must be from 1 to 8"), ({"depth": 1}, "it has no parameter 'depth'")]
    )
    def test_that_cannot_be_taken_are_told_and_the_defaults_stand(
        self, given: list[float], params: dict[str, float], reason: str
    ) -> None:
        assert self.run(given, **params) == (f"the evaluator sized uses its defaults: {reason}",)
        assert given == [3]


LONELY = recording([], lonely=["missing"])["lonely"]
CHICKEN, EGG = recording([], chicken=["egg"], egg=["chicken"]).values()
THEIRS = recording([], theirs=["graph"])["theirs"]
TAKEN = recording([], graph="")["graph"]
JUDGING = recording([], judge="")["judge"]
NONE = "a string"


class TestInstalled:
    @pytest.fixture(autouse=True)
    def packages(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
        """The entry points that are installed, for a test to fill."""
        installed: list[EntryPoint] = []
        monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(installed).select(group=group))
        installed_evaluators.cache_clear()
        yield installed
        installed_evaluators.cache_clear()

    def test_are_the_built_in_ones_without_any_package_each_with_its_tier(self) -> None:
        assert {each.id: each.tier for each in installed_evaluators().values()} == {"graph": 1, "latency": 2}
        assert evaluator_ids() == ["graph", "latency"]

    def test_are_those_of_packages_as_well(self, packages: list[EntryPoint]) -> None:
        packages.append(EntryPoint("theirs", f"{__name__}:THEIRS", ENTRY_POINT_GROUP))
        assert evaluator_ids() == ["graph", "latency", "theirs"]

    @pytest.mark.parametrize(
        ("names", "reason"),
        [
            (["NONE"], "NONE is not an Evaluator"),
            (["MISSING"], "cannot be loaded: module .* has no attribute"),
            (["TAKEN"], "another evaluator is also called 'graph'"),
            (["JUDGING"], f"another evaluator is also called '{JUDGE}'"),
            (["LONELY"], "an evaluator needs 'missing', which is not installed"),
            (["CHICKEN", "EGG"], "depend on each other in a cycle: .*chicken"),
        ],
    )
    def test_a_package_whose_evaluators_cannot_be_used_is_told(
        self, packages: list[EntryPoint], names: list[str], reason: str
    ) -> None:
        packages += [EntryPoint(name.lower(), f"{__name__}:{name}", ENTRY_POINT_GROUP) for name in names]
        with pytest.raises(BrokenEvaluatorError, match=reason):
            installed_evaluators()


class TestTrial:
    def test_in_silence_is_evaluated_all_the_same(self) -> None:
        evaluation = evaluated(plan("ABC", reports=True), [])
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
        recorded = plan("ABC").model_copy(update={"mode": Mode.RECORDED})
        evaluation = evaluated(recorded, [batch(1, told("A", *steps)), batch(2, told("B", tool("5", parent="1")))])
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

    def test_of_which_nothing_stands_that_an_agent_reported_does_not_call_it_silent(self) -> None:
        asked = batch(0, told("A", call("1", "A")))
        contradictory = [batch(1, told("B", tool("2"))), batch(2, told("B", tool("2", attributes={"name": "other"})))]
        late = batch(1, told("B", tool("2")))
        nothing = StepBatch(trace_id=TRACE_ID, reporter="B", steps=[]).model_dump_json().encode()
        dropped = replace(batch(1, told("B", tool("2")), dropped=1), n_steps=0, body=pack(nothing))

        def silent_in(*batches: ReportBatch, closed_after: int | None = None) -> list[str]:
            trial = evaluated(plan("AB", reports=True), batches, closed_after=closed_after)
            return [agent for finding in trial.findings if finding.id == "silent" for agent in finding.agents]

        assert silent_in(asked) == ["B"]
        assert silent_in(asked, *contradictory) == silent_in(asked, dropped) == []
        assert silent_in(asked, late, closed_after=1) == []

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

    def test_is_evaluated_by_all_others_where_one_is_not_wanted(self) -> None:
        evaluation = evaluated(
            plan(agents(3), config={"evaluators": [{"id": "latency", "enabled": False}]}), batches_of(star(3))
        )
        assert evaluation.structure is not None
        assert evaluation.latency is None

    def test_carries_the_warnings_of_its_evaluators(self) -> None:
        config = {"evaluators": [{"id": "graph", "params": {"size": 1}}]}
        warnings = evaluated(plan(agents(3), config=config), batches_of(star(3))).warnings
        assert warnings == ["the evaluator graph uses its defaults: it has no parameter 'size'"]

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
    reports = [carried(number, *CALLS[number])[0] for number in order]
    batches: list[ReportBatch] = []
    while reports:
        size = sizes.pop()
        some = [report for report in reports[:size] if report.reporter == reports[0].reporter]
        batches.append(batch(len(batches), some))
        reports = [report for report in reports if report not in some]
    assert evaluated(plan(agents(4)), batches) == whole
