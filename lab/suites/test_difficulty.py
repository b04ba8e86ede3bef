"""Calibrated difficulty: the population is graded, the model recovers what is known, and a choice keeps its rules."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from concord.suite import MAX_DIFFICULTY, Group
from concord_suites import FAMILIES, SUITE
from concord_suites.family import TextFamily
from lab.suites.choice import CHOSEN, LEAST_OF_GROUP, chosen_items
from lab.suites.items import Item, all_items
from lab.suites.population import POPULATION, SkilledTeam
from lab.suites.response_model import fitted
from lab.suites.steps import Step, rise, sentences_in
from tests.kit.players.ladders import Overlooking
from tests.kit.players.teams import Telling


def test_the_population_has_at_least_forty_different_teams() -> None:
    assert len({str(team) for team in POPULATION}) == len(POPULATION) >= 40


@pytest.mark.parametrize("family", ["maximum", "meeting", "consensus"])
def test_a_team_without_a_fault_does_every_item_and_the_worst_does_not(family: str) -> None:
    minds = [Item(family, 3, "chain", difficulty).mind(1) for difficulty in (1, 5)]
    assert [POPULATION[0].outcome(mind) for mind in minds] == [1, 1]
    assert sum(POPULATION[-1].outcome(mind) for mind in minds) < 2


def simulated(teams: int, items: int, tosses: int = 20) -> tuple[list[list[float]], np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(7)
    abilities, difficulties = draw.normal(size=teams), draw.uniform(-1.5, 1.5, items)
    slopes = draw.uniform(0.7, 2.0, items)
    chances = 1 / (1 + np.exp(-slopes * (abilities[:, None] - difficulties)))
    outcomes = draw.binomial(tosses, chances) / tosses
    return outcomes.T.tolist(), abilities, difficulties, slopes


def test_the_model_finds_abilities_difficulties_and_discriminations() -> None:
    outcomes, abilities, difficulties, slopes = simulated(60, 80)
    model = fitted(outcomes)
    assert model.converged
    assert np.corrcoef(model.abilities, abilities)[0, 1] > 0.97
    assert np.corrcoef(model.difficulties, difficulties)[0, 1] > 0.97
    assert np.corrcoef(model.discriminations, slopes)[0, 1] > 0.7


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_each_difficulty_has_more_to_read_than_the_one_below_it(family: TextFamily) -> None:
    items = [Item(family.name, 4, "complete", difficulty) for difficulty in range(1, MAX_DIFFICULTY + 1)]
    sentences = [sum(sentences_in(item.mind(number)) for number in range(1, 5)) for item in items]
    assert all(lower < higher for lower, higher in pairwise(sentences)), sentences


def test_a_longer_brief_makes_a_seat_overlook_more() -> None:
    kept = []
    for difficulty in (1, 5):
        mind = Item("meeting", 5, "complete", difficulty).mind(1)
        facts = [replace(mind.task.facts[0], id=str(number)) for number in range(400)]
        kept.append(len(list(Overlooking(mind, 0.1).reads("agent/1", facts))))
    assert 400 > kept[0] > kept[1] > 0


def test_teams_of_the_population_have_luck_of_their_own_with_the_same_task() -> None:
    mind = Item("set-union", 5, "complete", 3).mind(1)
    alike = [SkilledTeam({name: 0.5}) for name in ("forgetting", "distorting", "withholding", "overlooking")]
    spoiled = {
        str(team): frozenset(
            fact.id
            for fact in mind.task.facts
            for habits in [team.habits(mind)]
            for sender in fact.holders[:1]
            for read in [tuple(habits.reads(sender, [fact]))]
            if not any(each.facts == (fact,) for each in habits.tells(Telling(1, sender, mind.task.seats[-1], read)))
        )
        for team in alike
    }
    assert len(set(spoiled.values())) == len(alike)


def test_a_step_is_the_slope_within_sizes_and_topologies_with_its_standard_error() -> None:
    small = [Item("maximum", 3, "chain", difficulty) for difficulty in (1, 2, 3)]
    large = [Item("maximum", 8, "complete", difficulty) for difficulty in (1, 2, 3)]
    step = rise([*small, *large], [0.0, 1.0, 2.0, 7.0, 8.0, 9.0])
    assert (step.slope, step.error) == pytest.approx((1.0, 0.0), abs=1e-12)
    step = rise([*small[:2], *small[:2]], [0.0, 1.0, 1.0, 2.0])
    assert (step.slope, step.error) == pytest.approx((1.0, 0.5**0.5))


@pytest.mark.parametrize(("slope", "word"), [(0.5, "rises"), (0.1, "flat"), (-0.1, "flat"), (-0.5, "falls")])
def test_a_step_within_two_errors_of_nothing_is_flat(slope: float, word: str) -> None:
    assert Step(slope, 0.2).word == word


def test_an_item_of_many_parts_tells_more_than_one_that_is_right_or_wrong() -> None:
    many, one = (fitted(simulated(60, 40, tosses)[0]) for tosses in (20, 1))
    assert np.median(many.dispersions) < 0.2
    assert 0.8 < np.median(one.dispersions) < 1.2
    assert np.median(many.information(np.zeros(1))) > 4 * np.median(one.information(np.zeros(1)))


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
