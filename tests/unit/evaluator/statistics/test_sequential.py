"""The always-valid test of paired differences: what it shows, when, and how often it is wrong."""

from math import exp, isclose, prod
from random import Random
from statistics import fmean

from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator import statistics
from concord_evaluator.statistics import (
    ALPHA,
    STAKES,
    ComparisonVerdict,
    EProcess,
    bounds_of,
    pairs_needed,
    shown_above,
)


def change_verdict(seen: list[float], margin: float) -> ComparisonVerdict:
    """The verdict on differences that are known."""
    return statistics.change_verdict(seen, seen, margin)


differences = st.lists(st.floats(-1, 1), max_size=40)


def test_capital_is_the_mean_over_bettors_of_the_product_of_their_gains() -> None:
    process, seen = EProcess(0.2), [0.5, -0.3, 1.0]
    for each in seen:
        process.add(each)
    by_hand = fmean(prod(1 + share / 1.2 * (each - 0.2) for each in seen) for share in STAKES)
    assert isclose(exp(process.log_value), by_hand)
    assert not process.shown
    assert EProcess(0.2).log_value == 0


@given(differences, st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(seen: list[float], random: Random) -> None:
    shuffled = random.sample(seen, len(seen))
    before, after = bounds_of(seen, seen), bounds_of(shuffled, shuffled)
    assert isclose(before.low, after.low, abs_tol=1e-5)
    assert isclose(before.high, after.high, abs_tol=1e-5)


@given(differences)
def test_the_mean_lies_within_its_bounds(seen: list[float]) -> None:
    bounds = bounds_of(seen, seen)
    assert -1 <= bounds.low <= fmean(seen or [0]) <= bounds.high <= 1


@given(differences, st.floats(0.01, 0.99))
def test_exchanging_the_versions_exchanges_better_and_worse(seen: list[float], margin: float) -> None:
    verdict, exchanged = change_verdict(seen, margin), change_verdict([-each for each in seen], margin)
    assert (verdict == "better") <= (exchanged in {"worse", "not worse"})
    assert (verdict == "worse") <= (exchanged == "better")


@given(differences, st.floats(0.01, 0.5))
def test_a_verdict_can_be_read_from_the_bounds(seen: list[float], margin: float) -> None:
    bounds, verdict = bounds_of(seen, seen), change_verdict(seen, margin)
    if bounds.low > 1e-4:
        assert verdict == "better"
    elif bounds.high < -1e-4 and bounds.low < -margin - 1e-4:
        assert verdict == "worse"


def test_one_pair_shows_nothing_and_twelve_lost_tasks_show_worse() -> None:
    assert change_verdict([], 0.1) == change_verdict([-1.0], 0.1) == "no difference shown"
    assert change_verdict([-1.0] * 12, 0.1) == "worse"
    assert change_verdict([1.0] * 12, 0.1) == "better"


def test_equal_scores_become_not_worse_after_a_while() -> None:
    assert change_verdict([0.0] * 20, 0.1) == "no difference shown"
    assert change_verdict([0.0] * 60, 0.1) == "not worse"
    assert change_verdict([0.0] * 20, 0.3) == "not worse", "a wider margin is met sooner"


def test_a_certain_small_loss_within_the_margin_is_not_worse() -> None:
    assert change_verdict([-0.05] * 2000, 0.1) == "not worse"
    assert change_verdict([-0.05] * 2000, 0.01) == "worse"


def _always_valid_errors(draw: Random, rounds: int, histories: int) -> float:
    """How often the mean 0 of differences is ever taken to be above 0: half of the tasks gain, half of them lose, and
    each round plays all of them in random order."""
    tasks = [0.4] * 6 + [-0.4] * 6
    wrong = 0
    for _ in range(histories):
        process = EProcess(0.0)
        for task in (each for _ in range(rounds) for each in draw.sample(tasks, len(tasks))):
            process.add(task + draw.choice((-0.5, 0.5)))
            if process.shown:
                wrong += 1
                break
    return wrong / histories


def test_looking_after_every_pair_is_wrong_at_most_as_often_as_stated() -> None:
    assert _always_valid_errors(Random(1), rounds=12, histories=400) <= ALPHA + 0.01  # noqa: S311 - a simulation


def test_about_as_many_pairs_are_needed_as_are_said_to_be() -> None:
    draw = Random(3)  # noqa: S311 - a simulation
    pilot = [draw.choice((-1.0, 0.0, 0.0, 0.0, 1.0, 1.0)) - 1 / 6 - 0.2 for _ in range(400)]
    pilot = [max(-1.0, each) for each in pilot]
    needed = pairs_needed(pilot, 0.001)
    assert needed is not None
    found = [change_verdict(draw.choices(pilot, k=needed), 0.001) for _ in range(200)]
    assert 0.7 <= found.count("worse") / len(found) <= 0.97


def test_no_number_of_pairs_is_said_where_none_would_do() -> None:
    assert pairs_needed([0.1], 0.1) is None
    assert pairs_needed([-0.1, -0.1], 0.1) is not None, "surely worse"
    assert pairs_needed([0.0, 0.0], 1e-6) is None


def test_no_differences_are_shown_to_exceed_the_end_of_the_scale() -> None:
    assert shown_above([1.0] * 50, -0.999)
    assert not shown_above([1.0] * 50, 0.9999)


def test_what_is_not_known_helps_no_verdict() -> None:
    unknown = ([-1.0] * 100, [1.0] * 100)
    assert statistics.change_verdict(*unknown, 0.5) == "no difference shown"
    lows, highs = [1.0] * 20 + [-1.0] * 20, [1.0] * 40
    assert change_verdict(highs, 0.1) == "better"
    assert statistics.change_verdict(lows, highs, 0.1) == "no difference shown"
    assert statistics.change_verdict([-1.0] * 40, [-1.0] * 20 + [1.0] * 20, 0.1) == "no difference shown"
