"""The solo control: one agent with all briefs, whose answer stands for all seats."""

import json

import pytest

from concord.suite import SuiteTask, neighbours_of
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.reply import read_reply
from concord_gateway.rounds.texts import answers_by_seat, solo_task, turn_text
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from concord_suites.pipeline.prefix_sums import PrefixSums
from concord_suites.player import reply
from concord_suites.pool.maximum import Maximum

CHAIN = neighbours_of(["a", "b", "c"], [("a", "b"), ("b", "c")])


def task(family: TextFamily) -> SuiteTask:
    """A task for three seats in a chain."""
    return family.generate(b"secret", CHAIN, 2)


def test_one_agent_gets_all_briefs_and_nobody_to_write_to() -> None:
    rounds = Rounds(solo_task(task(Maximum()), "agent"), max_rounds=1)
    rounds.begin()
    text = turn_text(rounds, "agent")
    assert all(brief in text for brief in task(Maximum()).briefs.values())
    assert "You may write to: nobody." in text


@pytest.mark.parametrize("family", [Maximum(), PrefixSums()], ids=["one answerer", "several answerers"])
def test_the_sample_agent_alone_answers_for_all_seats(family: TextFamily) -> None:
    given = task(family)
    rounds = Rounds(solo_task(given, "agent"), max_rounds=1)
    rounds.begin()
    rounds.take({"agent": read_reply(reply(turn_text(rounds, "agent"), FAMILIES))})
    assert rounds.over
    assert family.grade(answers_by_seat(given, rounds.answers["agent"]), given.key).outcome == 1


@pytest.mark.parametrize("answer", [7, "none", None, [1, 2], {"z": 1}])
def test_an_answer_that_names_no_seat_answers_for_none_of_several(answer: object) -> None:
    assert answers_by_seat(task(PrefixSums()), json.loads(json.dumps(answer))) == {}
