"""The watch of a trial: the calls under way, their ids and their parents."""

from hypothesis import given
from hypothesis import strategies as st

from concord_gateway.watch import TrialWatch, Watches


def test_a_call_keeps_the_callers_step_id_unless_it_is_taken() -> None:
    watch = TrialWatch()
    root = watch.begin("green-agent", "a", parent_id="root")
    assert watch.begin("a", "b", "mine").step_id == "mine"
    for taken in ("mine", "root", root.step_id):
        assert watch.begin("a", "b", taken).step_id not in {"mine", "root", root.step_id, ""}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from(["", "x", "y"]))))
def test_no_two_calls_have_the_same_id(calls: list[tuple[str, str, str]]) -> None:
    watch = TrialWatch()
    ids = [watch.begin(*call).step_id for call in calls]
    assert len(set(ids)) == len(ids)


def test_the_parent_is_the_only_call_that_the_caller_is_answering() -> None:
    watch = TrialWatch()
    assert watch.begin("a", "b").parent_id == ""
    first = watch.begin("green-agent", "a")
    assert watch.begin("a", "b").parent_id == first.step_id
    second = watch.begin("c", "a")
    assert watch.begin("a", "b").parent_id == "", "either may be meant"
    watch.end(first.step_id, answered=True)
    assert watch.begin("a", "b").parent_id == second.step_id


def test_open_calls_are_those_with_a_waiting_caller() -> None:
    watch = TrialWatch()
    waited, left = watch.begin("a", "b"), watch.begin("a", "c")
    watch.leave(left.step_id)
    assert watch.open_calls == 1
    watch.end(left.step_id, answered=True)
    watch.end(waited.step_id, answered=False)
    watch.end("never begun", answered=True)
    assert watch.open_calls == 0
    assert watch.answered == [left]


def test_a_trial_has_one_watch_during_its_run_and_a_temporary_one_afterwards() -> None:
    watches = Watches()
    with watches.trial("t") as watch:
        assert watches.of("t") is watch
    assert watches.of("t") is not watch
    assert watches.of("t") is watches.of("t")
    for number in range(1000):
        watches.of(str(number))
    assert len(watches._guests) == 256
