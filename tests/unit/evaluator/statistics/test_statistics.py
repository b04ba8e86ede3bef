"""Statistics: intervals keep their level, runs of one task are not independent, and teams are compared in pairs."""

import random
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from math import pi, sqrt, tan

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from concord_evaluator.statistics import (
    ADEQUATE_SCENARIOS,
    Interval,
    Scores,
    compare_paired,
    compare_unpaired,
    comparison_verdict,
    confidence_in,
    fewest_tasks,
    mean_interval,
    pass_power,
    ranks,
    rate_interval,
    students_t,
    tie_groups,
)

Z = 1.959963984540054
SCIPY_QUANTILES = [
    (0.8, 3, 1.637744353696209),
    (0.95, 9, 2.262157162798205),
    (0.95, 40, 2.021075390306273),
    (0.999, 9, 4.780912585931217),
    (0.999, 999, 3.3002924403987666),
]
"""Level, degrees of freedom and `scipy.stats.t.ppf((1 + level) / 2, degrees)` of SciPy 1.17."""


class TestRates:
    @pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (3, 10), (10, 10), (50, 100)])
    def test_the_rate_interval_is_wilsons(self, successes: int, n: int) -> None:
        rate, square = successes / n, Z * Z
        centre = (rate + square / (2 * n)) / (1 + square / n)
        half = Z * sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n)
        interval = rate_interval(successes, n)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((max(0, centre - half), min(1, centre + half)))

    def test_without_trials_there_is_no_rate_interval(self) -> None:
        assert rate_interval(0, 0) is None

    @pytest.mark.parametrize(("rate", "n"), [(0.5, 10), (0.8, 20), (0.95, 30)])
    def test_the_rate_interval_covers_the_truth_at_about_its_level(self, rate: float, n: int) -> None:
        """Simulated. Rates of few trials take few values, so the level holds on average and not for every rate."""
        draw = random.Random(5)  # noqa: S311 - a simulation, not a secret
        passes = Counter(sum(draw.random() < rate for _ in range(n)) for _ in range(2000))
        intervals = {count: rate_interval(count, n) for count in passes}
        covered = sum(
            times for count, times in passes.items() if (each := intervals[count]) and each.low <= rate <= each.high
        )
        assert 0.92 <= covered / 2000 <= 0.99

    def test_extreme_rates_of_few_trials_have_wide_intervals(self) -> None:
        interval = rate_interval(3, 3)
        assert interval is not None
        assert interval.low < 0.5


class TestMeans:
    def test_with_one_run_per_task_the_mean_interval_is_students_t(self) -> None:
        interval = mean_interval([0.1, 0.5, 0.9], ["a", "b", "c"])
        assert interval is not None
        half = 4.302652729911275 * 0.4 / sqrt(3)  # t(.975, 2) * s / sqrt(n)
        assert (interval.low, interval.high) == pytest.approx((0.5 - half, 0.5 + half))
        assert interval.method == "t"

    @settings(max_examples=15)
    @given(st.floats(0.01, 0.999))
    def test_the_quantile_of_students_t_has_its_closed_forms(self, level: float) -> None:
        assert students_t(level, 1) == pytest.approx(tan(pi * level / 2), rel=1e-9)
        assert students_t(level, 2) == pytest.approx(level * sqrt(2 / (1 - level * level)), rel=1e-9)

    @pytest.mark.parametrize(("level", "degrees", "quantile"), SCIPY_QUANTILES)
    def test_the_quantile_of_students_t_is_scipys(self, level: float, degrees: int, quantile: float) -> None:
        assert students_t(level, degrees) == pytest.approx(quantile, rel=1e-9)

    def test_the_clustered_interval_is_that_of_statsmodels(self) -> None:
        """statsmodels 0.15: `OLS(values, ones).fit(cov_type="cluster", use_t=True).conf_int()`."""
        interval = mean_interval([0.1, 0.5, 0.9, 0.4, 0.7, 0.2], ["a", "a", "b", "b", "b", "c"])
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((-0.18005786, 1.11339119))

    def test_repeating_runs_hardly_narrows_the_interval(self) -> None:
        values, tasks = [0.1, 0.5, 0.9, 0.4], ["a", "b", "c", "d"]
        once, often = mean_interval(values, tasks), mean_interval(values * 25, tasks * 25)
        assert once is not None
        assert often is not None
        assert (often.n, often.clusters, often.method) == (100, 4, "clustered t")
        assert often.width > 0.85 * once.width

    @pytest.mark.parametrize(("share", "n"), [(0.05, 10), (0.2, 5), (0.5, 3)])
    def test_without_scatter_the_interval_still_covers_what_may_have_stayed_unseen(self, share: float, n: int) -> None:
        """If this share of tasks fails, n tasks without a failure are likely enough that the truth must be inside."""
        interval = mean_interval([1.0] * n, list(map(str, range(n))), scale=(0.0, 1.0))
        assert interval is not None
        assert (1 - share) ** n > 0.025
        assert interval.low < 1 - share < interval.high == 1.0

    def test_one_task_yields_no_interval(self) -> None:
        assert mean_interval([0.2, 0.4, 0.6], ["a", "a", "a"]) is None
        assert mean_interval([], []) is None

    @pytest.mark.parametrize(("tasks", "runs"), [(10, 1), (12, 3)])
    def test_the_mean_interval_covers_the_truth_at_its_level(self, tasks: int, runs: int) -> None:
        """Simulated: tasks of different difficulty, with runs that scatter around it. With 300 samples, three sigma are
        0.038."""
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

    def test_coverage_drops_slightly_if_scores_are_heaped_at_one_end(self) -> None:
        """Simulated: ten tasks with scores from Beta(4, 1), most of them near 1. About 0.08 are missed in place of
        0.05."""
        draw = random.Random(3)  # noqa: S311 - a simulation, not a secret
        covered = 0
        for _ in range(300):
            interval = mean_interval([draw.betavariate(4, 1) for _ in range(10)], [str(task) for task in range(10)])
            assert interval is not None
            covered += interval.low <= 0.8 <= interval.high
        assert 0.87 <= covered / 300 <= 0.97


class TestPasses:
    @given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=4), st.integers(1, 6))
    def test_pass_power_is_the_share_of_k_runs_that_all_passed(self, tasks: list[list[bool]], k: int) -> None:
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
    def test_width_and_number_of_scenarios_decide_the_confidence(
        self, width: float | None, scenarios: int, confidence: str
    ) -> None:
        interval = None if width is None else Interval(0.5, 0.5 + width, 50, scenarios, "t")
        assert confidence_in(interval, scenarios) == confidence


def once(scores: Mapping[str, float]) -> Scores:
    """One run of each task, with the same puzzle."""
    return {task: {"1": [score]} for task, score in scores.items()}


class TestPairs:
    def test_a_small_steady_difference_is_found_although_tasks_differ_more(self) -> None:
        first = {str(i): i / 20 for i in range(12)}
        second = {task: score + 0.05 + 0.001 * int(task) for task, score in first.items()}
        comparison = compare_paired(once(first), once(second))
        assert comparison is not None
        assert comparison.verdict() == "better"
        assert comparison.difference == pytest.approx(0.0555)
        unpaired = [mean_interval(list(team.values()), list(team)) for team in (first, second)]
        assert all(interval is not None and interval.width > 0.05 for interval in unpaired)

    def test_swapping_the_teams_swaps_the_verdict(self) -> None:
        first, second = once({str(i): i / 20 for i in range(12)}), once({str(i): i / 20 - 0.1 for i in range(12)})
        one, other = compare_paired(first, second), compare_paired(second, first)
        assert one is not None
        assert other is not None
        assert (one.verdict(), other.verdict()) == ("worse", "better")

    def test_only_shared_tasks_count(self) -> None:
        comparison = compare_paired(
            {"a": {"1": [0.1]}, "b": {"1": [0.9]}}, {"a": {"2": [0.3], "3": [0.5]}, "c": {"1": [0.0]}}
        )
        assert comparison is not None
        assert (comparison.shared_tasks, comparison.paired_trials) == (1, 0)
        assert comparison.difference == pytest.approx(0.3)
        assert comparison.verdict() == "too few tasks"

    def test_trials_are_paired_by_puzzle_if_possible(self) -> None:
        comparison = compare_paired({"a": {"1": [0.2], "2": [0.4]}}, {"a": {"2": [0.5], "3": [1.0]}})
        assert comparison is not None
        assert comparison.paired_trials == 1
        assert comparison.difference == pytest.approx(0.1)

    def test_without_a_shared_task_there_is_no_comparison(self) -> None:
        assert compare_paired({"a": {"1": [0.1]}}, {"b": {"1": [0.2]}}) is None
        assert compare_paired({"a": {}}, {"a": {"1": [0.2]}}) is None

    @pytest.mark.parametrize(("level", "enough"), [(0.95, 6), (0.99, 8)])
    @pytest.mark.parametrize("fewer", [0, 1])
    def test_too_few_tasks_support_no_verdict(self, level: float, enough: int, fewer: int) -> None:
        assert fewest_tasks(level) == enough
        tasks, verdict = enough - fewer, "too few tasks" if fewer else "better"
        low, high = {str(i): 0.2 for i in range(tasks)}, {str(i): 0.9 for i in range(tasks)}
        comparison = compare_paired(once(low), once(high), level)
        assert comparison is not None
        assert comparison.verdict() == verdict

    @settings(max_examples=25)
    @given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), min_size=2))
    def test_no_team_is_better_than_itself(self, team: dict[str, float]) -> None:
        comparison = compare_paired(once(team), once(team))
        assert comparison is not None
        assert comparison.difference == 0
        assert comparison.verdict() in {"too few tasks", "no difference shown"}

    @given(st.floats(-1, 1), st.integers(6, 40))
    @example(0.9999999999999999, 17)
    def test_equal_differences_leave_room_for_unseen_tasks(self, difference: float, tasks: int) -> None:
        first, second = ({str(task): score for task in range(tasks)} for score in (0.0, difference))
        comparison = compare_paired(once(first), once(second))
        assert comparison is not None
        assert comparison.interval is not None
        low, high = comparison.interval.low, comparison.interval.high
        assert -1 <= low <= comparison.difference <= high <= 1
        assert high - low > 0.05
        steady = "better" if difference > 1e-6 else "worse" if difference < -1e-6 else None
        assert steady in {None, comparison.verdict()}

    @pytest.mark.parametrize(
        ("ends", "margin", "verdict"),
        [
            ((0.01, 0.2), 0.1, "better"),
            ((-0.05, 0.2), 0.1, "not worse"),
            ((-0.05, -0.01), 0.1, "not worse"),
            ((-0.05, -0.01), None, "worse"),
            ((-0.05, 0.2), None, "no difference shown"),
            ((-0.15, 0.2), 0.1, "no difference shown"),
            ((-0.3, -0.01), 0.1, "worse"),
            (None, 0.1, "too few tasks"),
        ],
    )
    def test_the_ends_of_the_interval_decide(
        self, ends: tuple[float, float] | None, margin: float | None, verdict: str
    ) -> None:
        assert comparison_verdict(ends, 6, margin=margin) == verdict
        assert comparison_verdict(ends, 5, margin=margin) == "too few tasks"

    def test_an_unpaired_difference_covers_the_truth_at_its_level(self) -> None:
        """Simulated: two groups of eight and twelve values whose means are equal. Three sigma are 0.038."""
        draw = random.Random(12)  # noqa: S311 - a simulation, not a secret
        missed = 0
        for _ in range(300):
            first, second = ([draw.gauss(0.5, spread) for _ in range(n)] for spread, n in ((0.1, 8), (0.3, 12)))
            ends = compare_unpaired(first, second)
            assert ends is not None
            missed += not ends[0] <= 0 <= ends[1]
        assert missed / 300 <= 0.088
        assert compare_unpaired([0.0] * 5, [1.0] * 9) is None
        assert compare_unpaired([0.0] * 9, [1.0] * 9, scale=(0.0, 1.0)) == pytest.approx((0.5246, 1.0), abs=1e-3)

    def test_equal_teams_are_distinguished_no_more_often_than_the_level(self) -> None:
        """Simulated: two equal teams on ten tasks. With 300 samples, three sigma are 0.038."""
        draw = random.Random(11)  # noqa: S311 - a simulation, not a secret
        wrong = 0
        for _ in range(300):
            tasks = {str(task): draw.gauss(0.5, 0.2) for task in range(10)}
            first, second = ({task: each + draw.gauss(0, 0.1) for task, each in tasks.items()} for _ in range(2))
            comparison = compare_paired(once(first), once(second))
            assert comparison is not None
            wrong += comparison.verdict() != "no difference shown"
        assert 0.012 <= wrong / 300 <= 0.088


class TestRanking:
    def test_fully_distinguished_teams_have_one_rank_each(self) -> None:
        better = [("a", "b"), ("a", "c"), ("b", "c")]
        assert ranks("abc", better) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
        assert tie_groups("abc", better) == [["a"], ["b"], ["c"]]

    def test_without_differences_every_rank_is_open(self) -> None:
        assert set(ranks("abc", []).values()) == {(1, 3)}
        assert tie_groups("abc", []) == [["a", "b", "c"]]

    def test_ties_are_not_transitive(self) -> None:
        assert ranks("abc", [("a", "c")]) == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}
        assert tie_groups("abc", [("a", "c")]) == [["a", "b"], ["b", "c"]]

    @settings(max_examples=50)
    @given(
        st.sets(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")).filter(lambda pair: pair[0] < pair[1]))
    )
    def test_a_group_has_no_distinguished_teams_and_every_team_is_in_one(self, better: set[tuple[str, str]]) -> None:
        groups = tie_groups("abcde", better)
        assert {team for group in groups for team in group} == set("abcde")
        assert not any({winner, loser} <= set(group) for group in groups for winner, loser in better)
        assert all(1 <= each.best <= each.worst <= 5 for each in ranks("abcde", better).values())
