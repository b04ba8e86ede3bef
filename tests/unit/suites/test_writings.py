"""However honest teams write, they are credited all that they have worked out: in rounds, and by calls."""

import pytest

from concord.suite import Draw
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.suites_gate.measures import SEATS, task_of
from tests.suites_gate.minds import Mind
from tests.suites_gate.plans import plan_of
from tests.suites_gate.play import play
from tests.suites_gate.writings import WRITINGS, WritingTeam, number_in_words, told_by_calls

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
EACH_WRITING = pytest.mark.parametrize("writing", WRITINGS)


def mind_for(family: TextFamily, writing: str) -> Mind:
    """A task whose topology and difficulty vary with the writing."""
    return Mind(family, task_of(family, SEATS, list(WRITINGS).index(writing)))


@EACH_FAMILY
@EACH_WRITING
def test_a_team_in_rounds_is_credited_its_whole_outcome(family: TextFamily, writing: str) -> None:
    mind = mind_for(family, writing)
    team = WritingTeam(mind, plan_of(mind.task), Draw(b"team"), partial_results=0, writing=WRITINGS[writing])
    played = play(family, mind.task, team)
    assert (played.grade.outcome, played.credit().unproven, played.credit().outcome) == (1, (), 1)


@EACH_FAMILY
@EACH_WRITING
def test_a_team_by_calls_is_credited_its_whole_outcome(family: TextFamily, writing: str) -> None:
    played = told_by_calls(mind_for(family, writing), WRITINGS[writing])
    assert (played.grade.outcome, played.credit().unproven, played.credit().outcome) == (1, (), 1)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (48_213, "forty-eight thousand two hundred and thirteen"),
        (100_007, "one hundred thousand and seven"),
        (2_000_540, "two million five hundred and forty"),
    ],
)
def test_numbers_are_spelled_as_people_write_them(number: int, words: str) -> None:
    assert number_in_words(number) == words
