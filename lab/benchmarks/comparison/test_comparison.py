"""Two trees are compared by turns, by ratios with intervals, and what one of them cannot do is named."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.benchmarks.comparison import command
from lab.benchmarks.comparison.probes import Probe
from lab.benchmarks.comparison.ratios import ratio
from lab.benchmarks.comparison.trees import Tree

POSITIVE = st.floats(1e-3, 1e6)
OLD, NEW = Tree(Path("old")), Tree(Path("new"))


@given(st.lists(POSITIVE, min_size=2, max_size=10), st.floats(0.01, 100))
def test_other_load_that_meets_both_trees_does_not_move_the_ratio(loads: list[float], factor: float) -> None:
    found = ratio(loads, [factor * load for load in loads])
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(factor)
    assert (found.low, found.high) == pytest.approx((factor, factor))


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=2, max_size=10))
def test_the_ratio_lies_in_its_interval_and_its_inverse_is_that_of_the_swapped_trees(
    rounds: list[tuple[float, float]],
) -> None:
    old, new = zip(*rounds, strict=True)
    there, back = ratio(old, new), ratio(new, old)
    assert there.low is not None
    assert there.high is not None
    assert there.low <= there.value * (1 + 1e-9)
    assert there.value <= there.high * (1 + 1e-9)
    assert back.value == pytest.approx(1 / there.value)


def test_one_round_has_no_interval() -> None:
    assert ratio([2.0], [1.0]).low is None


def test_the_trees_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def figures(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
        asked.append(tree.path.name)
        yield "time (s)", 2.0 if tree == OLD else 1.0

    monkeypatch.setattr(command, "PROBES", {"a": Probe("", figures)})
    table = command.compared([OLD, NEW], ["a"], rounds=3)
    assert asked == ["old", "new", "new", "old", "old", "new"]
    assert table.rows == [("time (s)", "2", "1", "0.50", "0.50 to 0.50")]


def test_a_probe_that_fails_in_one_tree_is_named_and_the_others_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
        if tree == OLD:
            raise RuntimeError("no such command")
        yield "time (s)", 1.0

    def works(_: Tree, __: Path) -> Iterator[tuple[str, float]]:
        yield "time (s)", 1.0

    monkeypatch.setattr(command, "PROBES", {"a": Probe("", fails), "b": Probe("", works)})
    rows = command.compared([OLD, NEW], ["a", "b"], rounds=1).rows
    assert [row[0] for row in rows] == ["a: not measured, no such command", "time (s)"]
