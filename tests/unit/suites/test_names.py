"""Of a team task, the names of seats and their order change nothing: neither the puzzle nor what is credited."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from concord.assessment.suite_tasks import SEAT_NAME
from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in, neighbours_of
from concord_evaluator.information.flow import flow_of
from concord_evaluator.information.receipts import credit_of
from concord_evaluator.information.turns import Answered
from concord_evaluator.messages import Sent
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.players.measures import SEATS
from tests.kit.players.minds import Mind
from tests.kit.players.play import play
from tests.kit.players.strategies import HONEST
from tests.kit.players.writings import WRITINGS

NAMES = {
    "in another order": ["zoe", "yan", "xia", "wes", "vic"],
    "words of messages": ["one", "May", "red", "total", "a"],
    "with signs": ["agent.1", "agent-2", "Agent_10", "a.b.c", "x-9"],
}


def made(family: TextFamily, team: Sequence[str]) -> SuiteTask:
    secret = instance_secret(b"names", family.name, "task", 1)
    team = team[: family.seats[-1]]
    return family.generate(secret, neighbours_in(Topology.RING, team, Draw(secret)), 2)


def renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], text)


def credited(
    family: TextFamily, task: SuiteTask, sent: Sequence[Sent], answers: Mapping[str, str], answered: Answered
) -> tuple[float, float, int]:
    """The outcome, the credited outcome, and how many parts are not wholly proven."""
    grade = family.grade(answers, task.key)
    credit = credit_of(task, grade, flow_of(task, family, sent, answers), answered)
    return grade.outcome, credit.outcome, len(credit.unproven)


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_the_same_messages_and_answers_under_other_names_are_credited_alike(family: TextFamily) -> None:
    task = made(family, [f"agent/{place}" for place in range(1, SEATS + 1)])
    played = play(family, task, HONEST["tell all"](Mind(family, task), Draw(b"team"), WRITINGS["quoted briefs"]))
    less = [each for each in played.sent if each.sender != task.seats[0]]
    team = [*NAMES.values()][FAMILIES.index(family) % len(NAMES)]
    names = dict(zip(task.seats, team, strict=False))
    other = made(family, team)
    assert {names[seat]: renamed(brief, names) for seat, brief in task.briefs.items()} == other.briefs
    answers = {names[seat]: renamed(answer, names) for seat, answer in played.answers.items()}
    answered = replace(played.answered, times={names[seat]: at for seat, at in played.answered.times.items()})
    for sent in (played.sent, less):
        theirs = [
            structs.replace(
                each, sender=names[each.sender], receiver=names[each.receiver], text=renamed(each.text, names)
            )
            for each in sent
        ]
        before = credited(family, task, sent, played.answers, played.answered)
        assert credited(family, other, theirs, answers, answered) == before


@given(st.permutations("abcdefgh"), st.permutations(range(8)))
def test_neighbours_are_in_the_order_of_the_seats(team: list[str], order: list[int]) -> None:
    edges = [(team[one], team[other]) for one, other in pairwise(order)]
    for others in neighbours_of(team, edges).values():
        assert list(others) == sorted(others, key=team.index)


@given(st.from_regex(SEAT_NAME, fullmatch=True))
def test_a_name_that_is_allowed_is_read_as_one_seat(name: str) -> None:
    family = next(each for each in FAMILIES if each.name == "maximum")
    task = made(family, [name, "other", "third"])
    assert isinstance(task.key, dict)
    assert set(task.answerers) == set(task.key) <= {name, "other", "third"}
