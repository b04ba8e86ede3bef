"""However honest teams write, they are credited all that they have worked out: in rounds, and by calls."""

import pytest

from concord.suite import Draw
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.players.measures import SEATS, task_of
from tests.kit.players.minds import Mind
from tests.kit.players.play import play
from tests.kit.players.sharing import credited_by_calls
from tests.kit.players.strategies import HONEST
from tests.kit.players.writings import WRITINGS, number_in_words, ordinal_in_words

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
EACH_WRITING = pytest.mark.parametrize("writing", WRITINGS)


def mind_for(family: TextFamily, writing: str) -> Mind:
    """A task whose topology and difficulty vary with the writing."""
    return Mind(family, task_of(family, SEATS, list(WRITINGS).index(writing)))


@EACH_FAMILY
@EACH_WRITING
def test_a_team_is_credited_its_whole_outcome_in_rounds_and_by_calls(family: TextFamily, writing: str) -> None:
    mind = mind_for(family, writing)
    played = play(family, mind.task, HONEST["tell all"](mind, Draw(b"team"), WRITINGS[writing]))
    assert (played.grade.outcome, played.credit().unproven, played.credit().outcome) == (1, (), 1)
    assert credited_by_calls(played) == 1


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


@pytest.mark.parametrize(
    ("number", "words"), [(1, "first"), (12, "twelfth"), (14, "fourteenth"), (20, "twentieth"), (23, "twenty-third")]
)
def test_days_are_spelled_as_people_write_them(number: int, words: str) -> None:
    assert ordinal_in_words(number) == words
