"""The sample agent: it solves every task from the texts of turns alone, and its habits spoil what they should."""

import pytest

from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_gateway.rounds.exchange import Rounds, default_rounds
from concord_gateway.rounds.reply import read_reply
from concord_gateway.rounds.texts import turn_text
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from concord_suites.player import Habit, NotATurnError, reply, view_of
from concord_suites.pool.maximum import Maximum

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
TEAM = [f"agent/{number}" for number in range(1, 6)]


def make(family: TextFamily, topology: Topology, attempt: int = 1) -> SuiteTask:
    """A task for five seats."""
    secret = instance_secret(bytes(32), family.name, "trial", attempt)
    return family.generate(secret, neighbours_in(topology, TEAM, Draw(secret)), 3)


def play(task: SuiteTask, habits: dict[str, Habit] | None = None) -> Rounds:
    """Plays a task to its end, with the sample agent in every seat."""
    rounds = Rounds(task, max_rounds=default_rounds(task))
    while not rounds.over:
        rounds.begin()
        rounds.take({seat: read_reply(reply(turn_text(rounds, seat), FAMILIES, habits)) for seat in task.seats})
    return rounds


@EACH_FAMILY
def test_the_sample_team_solves_every_family(family: TextFamily) -> None:
    task = make(family, (Topology.COMPLETE, Topology.CHAIN, Topology.SMALL_WORLD)[FAMILIES.index(family) % 3])
    assert family.grade(play(task).answers, task.key).outcome == 1


def test_one_answerer_gets_each_fact_once_where_all_are_next_to_it() -> None:
    task = make(Maximum(), Topology.COMPLETE)
    rounds = play(task)
    assert len(rounds.messages) == task.fewest_messages.value
    assert rounds.round == task.fewest_rounds.value


def holder_of_the_maximum(task: SuiteTask) -> str:
    """The seat that knows the answer."""
    [seat] = max(task.facts, key=lambda fact: int(fact.value.text)).holders
    return seat


@pytest.mark.parametrize("habit", [Habit.WITHHOLDING, Habit.DISTORTING])
def test_a_seat_that_withholds_or_distorts_a_needed_fact_costs_the_outcome(habit: Habit) -> None:
    task = make(Maximum(), Topology.COMPLETE)
    rounds = play(task, {holder_of_the_maximum(task): habit})
    assert Maximum().grade(rounds.answers, task.key).outcome == 0


def test_a_forgetful_hub_passes_nothing_on() -> None:
    task = make(Maximum(), Topology.STAR)
    hub = next(seat for seat in TEAM if len(task.neighbours[seat]) == 4)
    if hub in task.answerers:
        task = make(Maximum(), Topology.STAR, attempt=2)
        hub = next(seat for seat in TEAM if len(task.neighbours[seat]) == 4)
    rounds = play(task, {hub: Habit.FORGETFUL})
    [answerer] = task.answerers
    senders = {message.sender for message in rounds.messages if message.receiver == answerer}
    assert senders == {hub}
    assert all(message.text.count("knows:") == 1 for message in rounds.messages if message.sender == hub)


def test_a_chattering_seat_sends_more_and_costs_no_outcome() -> None:
    task = make(Maximum(), Topology.RING)
    chatter = next(seat for seat in TEAM if seat not in task.answerers)
    loud, quiet = play(task, {chatter: Habit.CHATTERING}), play(task)
    assert Maximum().grade(loud.answers, task.key).outcome == 1
    assert len(loud.messages) > len(quiet.messages)


def test_other_texts_are_no_turns() -> None:
    with pytest.raises(NotATurnError):
        view_of("Please review this report.")
