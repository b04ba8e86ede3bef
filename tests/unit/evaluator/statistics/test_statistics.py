"""Intervals hold their level, runs of one task do not pass for independent ones, and pairs are compared as pairs."""

import random
from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.statistics import (
    ADEQUATE_SCENARIOS,
    Interval,
    compare_paired,
    confidence_in,
    mean_interval,
    pass_power,
    rate_interval,
)

Z = 1.959963984540054


class TestRates:
    @pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (3, 10), (10, 10), (50, 100)])
    def test_it_is_wilsons_formula(self, successes: int, n: int) -> None:
        rate, square = successes / n, Z * Z
        centre = (rate + square / (2 * n)) / (1 + square / n)
        half = Z * sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n)
        interval = rate_interval(successes, n)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((max(0, centre - half), min(1, centre + half)))

    def test_without_trials_there_is_none(self) -> None:
        assert rate_interval(0, 0) is None

    def test_certain_looking_rates_stay_uncertain(self) -> None:
        interval = rate_interval(3, 3)
        assert interval is not None
        assert interval.low < 0.5


class TestMeans:
    def test_with_one_run_a_task_it_is_the_ordinary_t_interval(self) -> None:
        interval = mean_interval([0.1, 0.5, 0.9], ["a", "b", "c"])
        assert interval is not None
        half = 4.302652729911275 * 0.4 / sqrt(3)  # t(.975, 2) * s / sqrt(n)
        assert (interval.low, interval.high) == pytest.approx((0.5 - half, 0.5 + half))
        assert interval.method == "t"

    def test_repeating_each_run_buys_next_to_nothing(self) -> None:
        values, tasks = [0.1, 0.5, 0.9, 0.4], ["a", "b", "c", "d"]
        once, often = mean_interval(values, tasks), mean_interval(values * 25, tasks * 25)
        assert once is not None
        assert often is not None
        assert (often.n, often.clusters, often.method) == (100, 4, "clustered t")
        assert often.width > 0.85 * once.width

    def test_one_task_says_nothing_of_others(self) -> None:
        assert mean_interval([0.2, 0.4, 0.6], ["a", "a", "a"]) is None
        assert mean_interval([], []) is None

    @pytest.mark.parametrize(("tasks", "runs"), [(10, 1), (12, 3)])
    def test_it_covers_the_truth_as_often_as_it_says(self, tasks: int, runs: int) -> None:
        """Simulated: tasks of differing difficulty, runs that scatter around it. 300 samples: +-.038 is three sigma."""
        draw = random.Random(7)  # noqa: S311 - a simulation, not a secret
        covered = 0
        for _ in range(300):
            values, clusters = [], []
            for task in range(tasks):
                difficulty = draw.gauss(0.5, 0.2)
                values += [draw.gauss(difficulty, 0.1) for _ in range(runs)]
                clusters += [str(task)] * runs
            interval = mean_interval(values, clusters)
            assert interval is not None
            covered += interval.low <= 0.5 <= interval.high
        assert 0.912 <= covered / 300 <= 0.988


class TestPasses:
    @given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=4), st.integers(1, 6))
    def test_it_is_the_share_of_k_runs_that_all_passed(self, tasks: list[list[bool]], k: int) -> None:
        drawn = [[all(runs) for runs in combinations(task, k)] for task in tasks if len(task) >= k]
        expected = [sum(chance) / len(chance) for chance in drawn]
        power = pass_power(tasks, k)
        assert power == (pytest.approx(sum(expected) / len(expected)) if expected else None)


class TestClaims:
    @pytest.mark.parametrize(
        ("width", "scenarios", "confidence"),
        [
            (None, 50, "insufficient"),
            (0.1, ADEQUATE_SCENARIOS, "adequate"),
            (0.1, ADEQUATE_SCENARIOS - 1, "low"),
            (0.3, 50, "low"),
        ],
    )
    def test_width_and_scenarios_decide(self, width: float | None, scenarios: int, confidence: str) -> None:
        interval = None if width is None else Interval(0.5, 0.5 + width, 50, scenarios, "t")
        assert confidence_in(interval, scenarios) == confidence


class TestPairs:
    def test_a_small_difference_on_every_task_is_seen_although_tasks_differ_more(self) -> None:
        first = {str(i): [i / 20] for i in range(12)}
        second = {task: [scores[0] + 0.05 + 0.001 * int(task)] for task, scores in first.items()}
        comparison = compare_paired(first, second)
        assert comparison is not None
        assert comparison.differs
        assert comparison.difference == pytest.approx(0.0555)
        unpaired = [mean_interval([s[0] for s in team.values()], list(team)) for team in (first, second)]
        assert all(interval is not None and interval.width > 0.05 for interval in unpaired)

    def test_only_shared_tasks_count(self) -> None:
        comparison = compare_paired({"a": [0.1], "b": [0.9]}, {"a": [0.3, 0.5], "c": [0.0]})
        assert comparison is not None
        assert comparison.shared_tasks == 1
        assert comparison.difference == pytest.approx(0.3)
        assert not comparison.differs

    def test_without_a_shared_task_there_is_nothing_to_compare(self) -> None:
        assert compare_paired({"a": [0.1]}, {"b": [0.2]}) is None
        assert compare_paired({"a": []}, {"a": [0.2]}) is None

    @given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.floats(0, 1), min_size=1, max_size=3), min_size=2))
    def test_a_team_does_not_differ_from_itself(self, team: dict[str, list[float]]) -> None:
        comparison = compare_paired(team, team)
        assert comparison is not None
        assert comparison.difference == 0
        assert not comparison.differs
