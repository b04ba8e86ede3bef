"""Whose a loss is: a participant gains nothing by any, and an honest one loses nothing by the first of Concord's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.result_row import FILLED, Loss, cause_of

SHARES = st.none() | st.floats(0, 1)
FULL = st.floats(FILLED, 1)


@pytest.mark.parametrize("loss", [Loss.NOT_BEGUN, Loss.GATEWAY, Loss.STORAGE, Loss.WORKER])
def test_what_is_lost_once_without_a_trace_is_concords(loss: Loss) -> None:
    assert cause_of(loss) == "concord"


@given(SHARES)
@pytest.mark.parametrize("loss", [Loss.GATEWAY, Loss.STORAGE, Loss.WORKER])
def test_what_is_lost_again_in_the_same_way_is_the_participants(loss: Loss, share: float | None) -> None:
    assert cause_of(loss, again=True, share=share) == "participants"


@given(st.booleans(), SHARES)
def test_a_trial_that_never_began_is_never_the_participants(again: bool, share: float | None) -> None:
    assert cause_of(Loss.NOT_BEGUN, again=again, share=share) == "concord"


@given(st.booleans(), SHARES)
def test_an_exceeded_limit_is_always_the_participants(again: bool, share: float | None) -> None:
    assert cause_of(Loss.LIMIT, again=again, share=share) == "participants"


@given(st.booleans(), FULL)
@pytest.mark.parametrize("loss", [Loss.STORAGE, Loss.STORAGE_FULL])
def test_who_filled_storage_lost_what_storage_lost(loss: Loss, again: bool, share: float) -> None:
    assert cause_of(loss, again=again, share=share) == "participants"


@given(st.booleans(), st.floats(0, FILLED, exclude_max=True))
def test_storage_that_others_filled_is_concords_as_often_as_it_happens(again: bool, share: float) -> None:
    assert cause_of(Loss.STORAGE_FULL, again=again, share=share) == "concord"


@given(st.booleans(), SHARES)
@pytest.mark.parametrize("loss", [Loss.ENVIRONMENT, Loss.ERROR])
def test_of_an_environment_and_an_error_nobody_knows_who_caused_it(
    loss: Loss, again: bool, share: float | None
) -> None:
    assert cause_of(loss, again=again, share=share) == "unknown"


def test_full_storage_of_unknown_content_is_nobodys() -> None:
    assert cause_of(Loss.STORAGE_FULL) == "unknown"


@given(st.sampled_from(Loss), SHARES)
def test_a_second_loss_never_speaks_for_the_participants(loss: Loss, share: float | None) -> None:
    once, again = cause_of(loss, share=share), cause_of(loss, again=True, share=share)
    assert again == once or again == "participants"
