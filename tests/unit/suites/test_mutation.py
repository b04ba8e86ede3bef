"""A sample of the faults of the network (`make mutation-score`): each kind on tasks of some families."""

import pytest

from concord_suites import FAMILIES
from tests.suites_gate.causes import SIZES
from tests.suites_gate.measures import task_of
from tests.suites_gate.mutation import Mutant, missed, mutant_of
from tests.suites_gate.network import EXPECTED, NETWORK_FAULTS, team_of

SURVIVORS = 2
"""Of 35 faults that cost something here: fewer than one in twenty of the many of the gate."""


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    """Each kind in four families, by turns."""
    return [
        mutant_of(FAMILIES[(at * 5 + turn * 8) % len(FAMILIES)], at + turn, kind)
        for at, kind in enumerate(NETWORK_FAULTS)
        for turn in range(4)
    ]


def test_most_faults_are_found_by_kind_place_and_step_and_nothing_is_said_without_one(mutants: list[Mutant]) -> None:
    survivors = [each for each in mutants if each.harmful and not all(each.found)]
    assert len(survivors) <= SURVIVORS, survivors
    assert [each.alarms for each in mutants if each.alarms] == []


def test_every_kind_that_can_cost_an_answer_does_and_no_other(mutants: list[Mutant]) -> None:
    harmful = {each.kind for each in mutants if each.harmful}
    assert harmful == {kind for kind, causes in EXPECTED.items() if causes} - {"reorder"}
    assert all(each.tolerated for each in mutants if each.kind in {"duplicate", "chatter", "reorder"})


def test_a_fault_that_nobody_finds_is_missed() -> None:
    blind = Mutant("drop", "maximum", 0, harmful=True, found=(True, True, False))
    assert len(list(missed([blind]))) == 1
    assert len(list(missed([blind._replace(found=(True, True, True), alarms="unexplained")]))) == 1


def test_a_team_plays_a_task_always_alike() -> None:
    for family in FAMILIES[::6]:
        team = team_of(family, task_of(family, SIZES[0], 1), "JSON")
        assert team.play().rounds.messages == team.play().rounds.messages
