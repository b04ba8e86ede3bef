"""A sample of the gate of the suites (`make suites-gate`): what scripted teams reach in each family, on one task."""

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.players.ladders import LADDERS, RUNGS, rises_in
from tests.kit.players.measures import FAULTS_FOUND, KNOWN, Measures, measured, task_of
from tests.kit.players.minds import Mind
from tests.kit.players.plans import plan_of
from tests.kit.players.teams import Telling

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])


@cache
def sample(family: TextFamily) -> Measures:
    """The measures of one task: a quarter of the faults and a ninth of the ladders, by turns."""
    turn = FAMILIES.index(family)
    return measured(
        family, 1, 1, 1, (0.0, 1.0), (5,), faults=KNOWN[turn % 4 :: 4], ladders=tuple(LADDERS)[turn % 9 :: 9]
    )


@EACH_FAMILY
def test_each_family_passes_the_gate(family: TextFamily) -> None:
    assert list(sample(family).failed()) == []


def test_nearly_all_known_faults_are_found_and_each_is_made() -> None:
    """The gate on causes plants each of them in more styles (`test_causes.py`)."""
    made = sum((sample(family).made for family in FAMILIES), Counter[str]())
    found = sum((sample(family).found for family in FAMILIES), Counter[str]())
    assert set(made) == set(KNOWN)
    assert found.total() >= FAULTS_FOUND * made.total()


def test_a_ladder_rises_where_lower_rungs_are_credited_more_on_nearly_all_tasks() -> None:
    falling, rising = [0.9, 1.0, 0.8, 1.0, 0.9, 1.0], [0.5, 0.6, 0.4, 0.6, 0.5, 0.61]
    assert rises_in([falling, rising], (0.0, 1.0)) == []
    assert rises_in([rising, falling], (0.0, 1.0)) == [(0.0, 1.0)]


def test_a_lower_rung_spoils_all_that_a_higher_one_spoils() -> None:
    """Silent seats, and facts that a team forgets or a lead ignores, stay so further down."""
    [family] = [each for each in FAMILIES if each.name == "set-union"]
    mind = Mind(family, task_of(family, 5, 1))
    for name in ("forgetting", "withholding", "silent seats", "a solo lead"):
        kept = [
            {
                (send.sender, send.receiver, fact)
                for send in plan_of(mind.task).sends
                for telling in habits.tells(Telling(1, send.sender, send.receiver, mind.task.facts))
                for fact in habits.hears(telling).facts
            }
            for habits in (LADDERS[name].habits(mind, rung) for rung in RUNGS)
        ]
        assert all(low <= high for high, low in pairwise(kept)), name
        assert kept[-1] < kept[0], name
