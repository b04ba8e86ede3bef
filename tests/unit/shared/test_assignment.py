"""Assignments: metadata carries the whole assignment, and its token appears nowhere else."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from concord.wire.assignment import ASSIGNMENT_KEY, Assignment
from concord.wire.roster import new_step_id, new_trace_id, traceparent

SECRET = "s3cret-token"


def assignment(token: str | None = SECRET) -> Assignment:
    return Assignment(
        assessment_id="a1",
        trace_id=new_trace_id(),
        step_id=new_step_id(),
        agent_id="writer",
        collector_url="http://collector",
        peers_url="http://collector/peers",
        token=None if token is None else SecretStr(token),
    )


def test_metadata_carries_the_whole_assignment() -> None:
    sent = assignment()
    assert Assignment.from_metadata(sent.metadata()) == sent


def test_metadata_carries_the_w3c_trace_context() -> None:
    sent = assignment()
    assert sent.metadata()["traceparent"] == f"00-{sent.trace_id}-{sent.step_id}-01"


def test_the_token_is_in_no_text_form_of_an_assignment() -> None:
    sent = assignment()
    assert SECRET not in repr(sent) + str(sent) + sent.model_dump_json()


def test_a_callers_token_is_not_passed_on() -> None:
    passed_on = assignment().for_call("step2", "reader")
    assert (passed_on.token, passed_on.step_id, passed_on.agent_id) == (None, "step2", "reader")


def test_metadata_without_a_readable_assignment_gives_none() -> None:
    assert Assignment.from_metadata({}) is None
    assert Assignment.from_metadata({ASSIGNMENT_KEY: {"assessment_id": "a"}}) is None
    assert Assignment.from_metadata({ASSIGNMENT_KEY: "nonsense"}) is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_ids_of_another_form_give_no_traceparent(trace_id: str, step_id: str) -> None:
    assert traceparent(trace_id, step_id) is None


def test_an_all_zero_id_gives_no_traceparent() -> None:
    assert traceparent("0" * 32, "1" * 16) is None
    assert traceparent("1" * 32, "0" * 16) is None
