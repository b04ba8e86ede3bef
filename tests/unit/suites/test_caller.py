"""The sample agent by calls: it solves every task from briefs and calls alone, and its habits spoil what they may."""

import pytest

from concord.assessment.verdict import CauseKind
from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from concord_suites.pipeline.prefix_sums import PrefixSums
from concord_suites.player import Habit
from concord_suites.pool.maximum import Maximum
from tests.kit.players.calls import play, play_well

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
TEAM = [f"agent/{number}" for number in range(1, 6)]


def make(family: TextFamily, topology: Topology, attempt: int = 1) -> SuiteTask:
    """A task for five seats."""
    secret = instance_secret(bytes(32), family.name, "calls", attempt)
    return family.generate(secret, neighbours_in(topology, TEAM, Draw(secret)), 3)


@EACH_FAMILY
def test_the_sample_team_solves_every_family_by_calls(family: TextFamily) -> None:
    played = play(family, make(family, (Topology.RING, Topology.TREE)[FAMILIES.index(family) % 2]))
    assert played.grade.outcome == 1
    assert played.refused == 0
    assert played.unexplained() == []


@EACH_FAMILY
def test_an_oracle_attains_the_fewest_calls_where_they_are_exact_and_nobody_needs_fewer(family: TextFamily) -> None:
    topology = (Topology.COMPLETE, Topology.CHAIN)[FAMILIES.index(family) % 2]
    played = play_well(family, make(family, topology, attempt=2))
    assert played.grade.outcome == 1
    assert played.calls == played.fewest.value if played.fewest.exact else played.calls >= played.fewest.value


def test_one_answerer_needs_a_call_for_each_other_seat_on_every_topology() -> None:
    for topology in Topology:
        played = play(Maximum(), make(Maximum(), topology))
        assert played.calls == played.fewest.value == 4
        assert played.fewest.exact


@pytest.mark.parametrize("topology", [Topology.COMPLETE, Topology.CHAIN])
@pytest.mark.parametrize("habit", [Habit.WITHHOLDING, Habit.DISTORTING])
def test_a_seat_with_a_fault_is_found_by_calls(topology: Topology, habit: Habit) -> None:
    task = make(PrefixSums(), topology)
    [first] = next(fact.holders for fact in task.facts if fact.id == "amount of stage 1")
    played = play(PrefixSums(), task, {first: habit})
    failures = played.failures()
    assert played.grade.outcome < 1
    assert {each.agents for each in failures} == {(first,)}
    assert {each.kind for each in failures} == {CauseKind.NOT_SENT if habit is Habit.WITHHOLDING else CauseKind.CHANGED}


def test_a_forgetful_hub_is_found() -> None:
    made = (make(Maximum(), Topology.STAR, attempt) for attempt in range(1, 20))
    tasks = [each for each in made if len(each.neighbours[each.answerers[0]]) == 1]
    hubs = [each.neighbours[each.answerers[0]][0] for each in tasks]
    trials = [(hub, play(Maximum(), each, {hub: Habit.FORGETFUL})) for hub, each in zip(hubs, tasks, strict=True)]
    hub, spoilt = next((hub, played) for hub, played in trials if played.grade.outcome == 0)
    assert {(each.kind, each.agents) for each in spoilt.failures()} == {(CauseKind.NOT_PASSED_ON, (hub,))}


def test_a_chattering_seat_makes_more_calls_and_costs_no_outcome() -> None:
    task = make(Maximum(), Topology.RING)
    chatter = next(seat for seat in TEAM if seat not in task.answerers)
    loud, quiet = play(Maximum(), task, {chatter: Habit.CHATTERING}), play(Maximum(), task)
    assert loud.grade.outcome == 1
    assert loud.calls > quiet.calls
