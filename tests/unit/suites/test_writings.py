"""However honest teams write, they are credited all that they have worked out: in rounds, and by calls."""

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.suite import Draw
from concord_suites import FAMILIES
from tests.kit.players.measures import SEATS, task_of
from tests.kit.players.minds import Mind
from tests.kit.players.play import play
from tests.kit.players.sharing import credited_by_calls
from tests.kit.players.strategies import HONEST
from tests.kit.players.writings import WRITINGS


@settings(max_examples=3)
@given(turn=st.integers(0, len(WRITINGS) - 1))
def test_a_team_is_credited_its_whole_outcome_in_rounds_and_by_calls(turn: int) -> None:
    """Each family in one writing, by turns. The topology and the difficulty of a task vary with the writing."""
    names = list(WRITINGS)
    for place, family in enumerate(FAMILIES, turn):
        number = place % len(names)
        mind = Mind(family, task_of(family, SEATS, number))
        played = play(family, mind.task, HONEST["tell all"](mind, Draw(b"team"), WRITINGS[names[number]]))
        credit, found = played.credit(), (family.name, names[number])
        assert (played.grade.outcome, credit.unproven, credit.outcome) == (1, (), 1), found
        assert credited_by_calls(played) == 1, found
