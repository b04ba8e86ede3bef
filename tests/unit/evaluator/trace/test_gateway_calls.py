"""Carried calls: the earliest are read, as far as there is room."""

from collections.abc import Sequence
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace import carried_calls
from tests.unit.evaluator.scoring.played import CarriedCall, TeamTrial, team_trials
from tests.unit.evaluator.traces import roster
from tests.unit.evaluator.trials import batch

ALL = 10**6


@given(st.data(), team_trials(), st.integers(0, 60))
def test_the_first_deliveries_that_fit_are_read_in_any_order_of_storage(
    data: st.DataObject, trial: TeamTrial, room: int
) -> None:
    stored = [batch(number, reports) for number, reports in enumerate(trial.reports_by_batch())]
    team = roster(*trial.agents)
    whole = carried_calls(stored, team, ALL)
    fitting = [held <= room for held in accumulate(each.size for each in whole.deliveries)]
    found = carried_calls(data.draw(st.permutations(stored)), team, room)
    assert found.calls == whole.calls
    assert found.deliveries == whole.deliveries[: sum(fitting)]
    assert found.unread == len({each.step_id for each in whole.deliveries[sum(fitting) :]})


def test_a_small_text_is_not_read_in_place_of_one_that_did_not_fit() -> None:
    calls = (
        CarriedCall("ann", "bob", "maples"),
        CarriedCall("ann", "bob", "a very long request"),
        CarriedCall("ann", "bob", "oak"),
    )
    assert _read(calls, room=12) == ["maples"]


def test_the_answer_of_a_failed_call_takes_no_room() -> None:
    calls = (CarriedCall("ann", "bob", "maples", "oaks", failed=True), CarriedCall("ann", "bob", "elm", "fir"))
    assert _read(calls, room=12) == ["maples", "elm", "fir"]


def _read(calls: Sequence[CarriedCall], room: int) -> list[str]:
    stored = [
        batch(number, reports)
        for number, reports in enumerate(TeamTrial(("ann", "bob"), tuple(calls)).reports_by_batch())
    ]
    return [text for each in carried_calls(stored, roster("ann", "bob"), room).deliveries for text in each.texts]
