"""Calibrated difficulty: the population is graded, the model recovers what is known, and a choice keeps its rules."""

from collections import Counter

import numpy as np
import pytest

from concord.suite import Group
from concord_suites import SUITE
from tests.suites_gate.choice import CHOSEN, LEAST_OF_GROUP, chosen_items
from tests.suites_gate.difficulty import rise
from tests.suites_gate.items import Item, all_items
from tests.suites_gate.population import POPULATION
from tests.suites_gate.response_model import fitted


def test_the_population_has_at_least_forty_different_teams() -> None:
    assert len({str(team) for team in POPULATION}) == len(POPULATION) >= 40


@pytest.mark.parametrize("family", ["maximum", "meeting", "consensus"])
def test_a_team_without_a_fault_does_every_item_and_the_worst_does_not(family: str) -> None:
    minds = [Item(family, 3, "chain", difficulty).mind(1) for difficulty in (1, 5)]
    assert [POPULATION[0].outcome(mind) for mind in minds] == [1, 1]
    assert sum(POPULATION[-1].outcome(mind) for mind in minds) < 2


def simulated(teams: int, items: int) -> tuple[list[list[float]], np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(7)
    abilities, difficulties = draw.normal(size=teams), draw.uniform(-1.5, 1.5, items)
    slopes = draw.uniform(0.7, 2.0, items)
    chances = 1 / (1 + np.exp(-slopes * (abilities[:, None] - difficulties)))
    outcomes = draw.binomial(20, chances) / 20
    return outcomes.T.tolist(), abilities, difficulties, slopes


def test_the_model_finds_abilities_difficulties_and_discriminations() -> None:
    outcomes, abilities, difficulties, slopes = simulated(60, 80)
    model = fitted(outcomes)
    assert model.converged
    assert np.corrcoef(model.abilities, abilities)[0, 1] > 0.97
    assert np.corrcoef(model.difficulties, difficulties)[0, 1] > 0.97
    assert np.corrcoef(model.discriminations, slopes)[0, 1] > 0.7


def test_a_rise_is_the_slope_with_its_standard_error() -> None:
    assert rise([1, 2, 3, 4, 5], [0.5, 1.0, 1.5, 2.0, 2.5]) == pytest.approx((0.5, 0.0), abs=1e-12)
    slope, error = rise([1, 1, 2, 2], [0.0, 1.0, 1.0, 2.0])
    assert (slope, error) == pytest.approx((1.0, 0.5**0.5))


def test_items_that_all_or_no_teams_do_stay_finite_and_say_nothing() -> None:
    outcomes, *_ = simulated(40, 20)
    model = fitted([*outcomes, [1.0] * 40, [0.0] * 40])
    assert np.isfinite(model.difficulties).all()
    middle = model.information(np.zeros(1))[0]
    assert max(middle[-2:]) < np.median(middle[:-2])
    assert model.difficulties[-2] < min(model.difficulties[:-2])
    assert model.difficulties[-1] > max(model.difficulties[:-2])


def test_a_choice_takes_each_family_once_and_enough_of_each_group() -> None:
    items = [item for item in all_items(SUITE.families) if item.topology == "star"]
    outcomes, *_ = simulated(40, len(items))
    chosen = chosen_items(items, fitted(outcomes))
    assert len({item.family for item in chosen}) == len(chosen) == CHOSEN
    groups = Counter(item.group for item in chosen)
    assert all(groups[group] >= LEAST_OF_GROUP for group in Group)
