"""The detectable difference: how often the t test shows it, and what it is where little is known."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord_evaluator.statistics import (
    POWER,
    detectable_difference,
    fewest_tasks,
    likely_spread,
    mean_interval,
    pairs_to_show,
)


@pytest.mark.parametrize(("spread", "pairs"), [(0.25, 24), (0.1, 6), (0.4, 144)])
def test_the_t_test_shows_it_about_as_often_as_stated(spread: float, pairs: int) -> None:
    difference = detectable_difference(spread, pairs)
    assert difference is not None
    draw, tasks = Random(1), [str(number) for number in range(pairs)]  # noqa: S311 - a simulation
    shown = 0
    for _ in range(400):
        interval = mean_interval([draw.gauss(difference, spread) for _ in range(pairs)], tasks)
        assert interval is not None
        shown += interval.low > 0
    assert shown / 400 == pytest.approx(POWER, abs=0.06)


@settings(max_examples=12)
@given(st.floats(0.01, 1), st.integers(2, 200))
def test_more_pairs_show_less_and_more_spread_hides_more(spread: float, pairs: int) -> None:
    fewer, more = detectable_difference(spread, pairs), detectable_difference(spread, pairs + 1)
    assert more is not None if fewer is not None else True
    assert fewer is None or more is None or more < fewer
    wider = detectable_difference(2 * spread, pairs)
    assert wider is None or fewer is None or wider > fewer


def test_one_pair_shows_nothing_and_two_of_a_wide_spread_neither() -> None:
    assert detectable_difference(0.1, 1) is None
    assert detectable_difference(0.5, 2) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_equal_scores_do_not_exclude_others(scores: list[float]) -> None:
    assert 0 < likely_spread(scores) <= 0.71
    assert likely_spread([1.0] * 24) == pytest.approx(likely_spread([0.0] * 24))


@settings(max_examples=20)
@given(st.floats(0.01, 1), st.floats(0.05, 0.5))
def test_so_many_pairs_show_a_difference_and_one_fewer_does_not(spread: float, difference: float) -> None:
    pairs = pairs_to_show(difference, spread)
    shown, less = detectable_difference(spread, pairs), detectable_difference(spread, pairs - 1)
    assert shown is not None
    assert shown <= difference
    assert pairs == fewest_tasks() or less is None or less > difference
