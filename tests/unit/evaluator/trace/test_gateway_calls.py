"""What is read of the calls that the gateway carried: what came first, as far as there is room."""

from collections.abc import Sequence
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace import carried_calls
from tests.unit.evaluator.scoring.played import Game, Played, games
from tests.unit.evaluator.traces import roster
from tests.unit.evaluator.trials import batch

ALL = 10**6


@given(st.data(), games(), st.integers(0, 60))
def test_the_first_deliveries_that_fit_are_read_whatever_the_order_in_which_they_were_stored(
    data: st.DataObject, game: Game, room: int
) -> None:
    stored = [batch(number, told) for number, told in enumerate(game.told())]
    team = roster(*game.agents)
    whole = carried_calls(stored, team, ALL)
    fitting = [held <= room for held in accumulate(each.size for each in whole.deliveries)]
    found = carried_calls(data.draw(st.permutations(stored)), team, room)
    assert found.calls == whole.calls
    assert found.deliveries == whole.deliveries[: sum(fitting)]
    assert found.unread == len({each.step_id for each in whole.deliveries[sum(fitting) :]})


def test_nothing_small_is_read_in_the_place_of_what_did_not_fit() -> None:
    calls = (Played("ann", "bob", "maples"), Played("ann", "bob", "a very long request"), Played("ann", "bob", "oak"))
    assert _read(calls, room=12) == ["maples"]


def test_the_answer_of_a_failed_call_takes_no_room() -> None:
    calls = (Played("ann", "bob", "maples", "oaks", failed=True), Played("ann", "bob", "elm", "fir"))
    assert _read(calls, room=12) == ["maples", "elm", "fir"]


def _read(calls: Sequence[Played], room: int) -> list[str]:
    stored = [batch(number, told) for number, told in enumerate(Game(("ann", "bob"), tuple(calls)).told())]
    return [text for each in carried_calls(stored, roster("ann", "bob"), room).deliveries for text in each.texts]
