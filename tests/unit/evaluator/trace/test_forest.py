"""The step forest: parents that are found, missing or refused."""

import pytest

from concord.trace.report import Report
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.trace.fold import Forest, build_forest, fold
from concord_evaluator.trace.trees import ROOT
from tests.kit.traces import call, observed, reported_by, tool


def forest_of(*reports: list[Report]) -> Forest:
    return build_forest(fold(report for batch in reports for report in batch))


def parents(forest: Forest) -> dict[str, str | None]:
    ids = list(map(forest.steps.step_id, range(len(forest.parents))))
    return {
        step_id: None if parent == ROOT else ids[parent]
        for step_id, parent, refused in zip(ids, forest.parents, forest.refused, strict=True)
        if not refused
    }


def test_a_forest_without_steps_has_no_completeness() -> None:
    assert forest_of([]).completeness is None


def test_the_two_ends_of_a_call_join_at_the_callers_step_id() -> None:
    forest = forest_of(reported_by("B", tool("2", parent="1")), reported_by("A", call("1", "B")))
    assert parents(forest) == {"1": None, "2": "1"}
    assert forest.completeness == 1.0


def test_a_missing_parent_keeps_the_step_and_lowers_completeness() -> None:
    forest = forest_of(
        reported_by("A", tool("1"), tool("2", parent="lost"), tool("3", parent="2"), tool("4", parent="1"))
    )
    assert parents(forest) == {"1": None, "2": None, "3": "2", "4": "1"}
    assert forest.orphaned == 1
    assert forest.completeness == 0.75


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_cycle_of_parents_is_refused(length: int) -> None:
    cycle = [tool(f"c{i}", parent=f"c{(i + 1) % length}") for i in range(length)]
    forest = forest_of(reported_by("A", *cycle, tool("below", parent="c0"), tool("root")))
    assert parents(forest) == {"below": None, "root": None}
    assert forest.refused.sum() == length
    assert forest.completeness == pytest.approx(1 / (length + 2))


@pytest.mark.parametrize("parent", ["1", "2"])
def test_an_observed_step_in_a_cycle_of_parents_loses_its_parent(parent: str) -> None:
    """A caller names the parent of its call, and claims the steps that may complete a cycle."""
    forest = forest_of(observed(GREEN_AGENT, call("1", "B", parent=parent)), reported_by("A", tool("2", parent="1")))
    assert parents(forest) == {"1": None, "2": "1"}
    assert (forest.orphaned, forest.refused.sum()) == (1, 0)


@pytest.mark.parametrize("latency", range(8))
def test_the_claimed_latency_of_a_parent_does_not_decide_which_of_its_variants_counts(latency: int) -> None:
    claims = reported_by("A", call("1", "B", latency=latency)), reported_by("B", call("1", "C", latency=7))
    forest = forest_of(*claims, observed(GREEN_AGENT, call("2", "D", parent="1")))
    [child] = [row for row in range(len(forest.parents)) if forest.steps.step_id(row) == "2"]
    assert forest.steps.record(forest.parents[child]).callee_name == "B"


def test_a_relayed_step_without_a_parent_is_placed_under_its_call() -> None:
    assert parents(forest_of(reported_by("A", call("1", "B", answer=[tool("2")]))))["2"] == "1"


def test_an_answer_with_its_own_trace_is_placed_under_its_call() -> None:
    nested = call("x", "C", parent="1", trace_id="the-callee-started-its-own")
    assert parents(forest_of(reported_by("A", call("1", "B", answer=[nested]))))["x"] == "1"


def test_relaying_a_step_does_not_move_it() -> None:
    root = call("1", "B")
    forest = forest_of(reported_by("A", root), reported_by("mallory", call("m", "A", parent="1", answer=[root])))
    assert parents(forest) == {"1": None, "m": "1"}
    assert forest.refused.sum() == 0


def test_with_two_contents_for_one_id_a_step_is_placed_under_its_own_reporters() -> None:
    mine, theirs = call("1", "B"), call("1", "C")
    forest = forest_of(reported_by("Z", theirs, tool("z", parent="1")), reported_by("A", mine, tool("a", parent="1")))
    kept_by = {forest.steps.step_id(row): parent for row, parent in enumerate(forest.parents)}
    assert kept_by["a"] != kept_by["z"]


def test_a_step_is_deeper_than_its_parent() -> None:
    forest = forest_of(reported_by("A", *(tool(str(i), parent=str(i + 1)) for i in range(50)), tool("50")))
    assert parents(forest)["0"] == "1"
    assert sorted(forest.depth) == list(range(51))
