"""The open calls of a trial: the calls under way, their ids and their parents."""

from hypothesis import given
from hypothesis import strategies as st

from concord_gateway.assignments import OpenCalls, TrialCalls


def test_a_call_keeps_the_callers_step_id_unless_it_is_taken() -> None:
    trial_calls = TrialCalls()
    root = trial_calls.begin("green-agent", "a", parent_id="root")
    assert trial_calls.begin("a", "b", "mine").step_id == "mine"
    for taken in ("mine", "root", root.step_id):
        assert trial_calls.begin("a", "b", taken).step_id not in {"mine", "root", root.step_id, ""}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from(["", "x", "y"]))))
def test_no_two_calls_have_the_same_id(calls: list[tuple[str, str, str]]) -> None:
    trial_calls = TrialCalls()
    ids = [trial_calls.begin(*call).step_id for call in calls]
    assert len(set(ids)) == len(ids)


def test_the_parent_is_the_only_call_that_the_caller_is_answering() -> None:
    trial_calls = TrialCalls()
    assert trial_calls.begin("a", "b").parent_id == ""
    first = trial_calls.begin("green-agent", "a")
    assert trial_calls.begin("a", "b").parent_id == first.step_id
    second = trial_calls.begin("c", "a")
    assert trial_calls.begin("a", "b").parent_id == "", "either may be meant"
    trial_calls.end(first.step_id, answered=True)
    assert trial_calls.begin("a", "b").parent_id == second.step_id


def test_open_calls_are_those_with_a_waiting_caller() -> None:
    trial_calls = TrialCalls()
    waited, left = trial_calls.begin("a", "b"), trial_calls.begin("a", "c")
    trial_calls.leave(left.step_id)
    assert trial_calls.n_open == 1
    trial_calls.end(left.step_id, answered=True)
    trial_calls.end(waited.step_id, answered=False)
    trial_calls.end("never begun", answered=True)
    assert trial_calls.n_open == 0
    assert trial_calls.answered == [left]


def test_a_trial_has_its_calls_during_its_run_and_temporary_ones_afterwards() -> None:
    open_calls = OpenCalls()
    with open_calls.trial("t") as trial_calls:
        assert open_calls.of("t") is trial_calls
    assert open_calls.of("t") is not trial_calls
    assert open_calls.of("t") is open_calls.of("t")
    for number in range(1000):
        open_calls.of(str(number))
    assert len(open_calls._guests) == 256
