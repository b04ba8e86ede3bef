"""A sample of the faults of `make mutation-score`: each kind of the network and of tools, on some tasks and teams."""

import pytest

from concord.assessment.observations import ObservationKind
from concord_suites import FAMILIES
from lab.suites.mutation import Mutant, missed, mutant_by_calls, mutant_of
from lab.suites.network_calls import CALL_FAULTS
from lab.suites.network_calls import EXPECTED as EXPECTED_BY_CALLS
from lab.suites.workshop import CORRECTIONS, worked
from lab.suites.workshop_faults import MILD, TOOL_FAULTS, Stubborn, UnluckyOnce, planted_tool_fault
from tests.kit.players.measures import task_of
from tests.kit.players.network import EXPECTED, NETWORK_FAULTS, team_of
from tests.kit.players.planted import SIZES

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


def test_faults_in_the_calls_of_a_team_are_found_and_those_that_cost_nothing_are_set_apart() -> None:
    found = [mutant_by_calls(family, at, kind) for at, kind in enumerate(CALL_FAULTS) for family in FAMILIES[at::12]]
    mutants = [each for each in found if each is not None]
    survivors = [each for each in mutants if each.harmful and not all(each.found)]
    assert len(survivors) <= SURVIVORS, survivors
    assert [each.alarms for each in mutants if each.alarms] == []
    harmful = {each.kind.partition(",")[0] for each in mutants if each.harmful}
    assert harmful <= {kind for kind, causes in EXPECTED_BY_CALLS.items() if causes}
    assert harmful >= {"drop", "truncate", "silence", "cut"}


class TestTeamsWithTools:
    @pytest.mark.parametrize("kind", TOOL_FAULTS)
    def test_a_fault_costs_the_work_unless_it_is_mild_and_nothing_is_observed_without_one(self, kind: str) -> None:
        found = [planted_tool_fault(kind, seed) for seed in range(2 * MILD)]
        assert [each.harmful for each in found] == [seed % MILD != 0 for seed in range(2 * MILD)]
        assert [each.alarms for each in found if each.alarms] == []

    @pytest.mark.parametrize("kind", [kind for kind, each in TOOL_FAULTS.items() if each.worker is not Stubborn])
    def test_a_fault_is_found_by_kind_agents_and_steps(self, kind: str) -> None:
        harmful = [each for each in (planted_tool_fault(kind, seed) for seed in range(8)) if each.harmful]
        found = [each for each in harmful if each.kind and each.place and each.step]
        assert found == harmful or TOOL_FAULTS[kind].worker is UnluckyOnce
        assert found

    def test_a_correction_is_missed_only_if_it_is_in_words_of_none_that_are_read(self) -> None:
        missed_in = set[int]()
        for seed in range(40):
            shop = worked(seed, Stubborn)
            if ObservationKind.IGNORED_CORRECTION not in {each.kind for each in shop.observed()}:
                said = [each.format(old=shop.old, new=shop.new) for each in CORRECTIONS]
                missed_in |= {at for at, each in enumerate(said) if each in shop.said}
        assert missed_in == {len(CORRECTIONS) - 1}
