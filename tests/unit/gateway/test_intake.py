"""Intake: a client's message is an assessment, or is refused with the reason."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.a2a import IncomingMessage
from concord_gateway.intake import NotAnAssessmentError, read_request


def message(*texts: str, data: tuple[object, ...] = (), others: int = 0) -> IncomingMessage:
    return IncomingMessage(
        text="\n".join(texts),
        text_parts=texts,
        data_parts=data,  # type: ignore[arg-type]
        other_parts=others,
        metadata={},
        message_id="m",
        task_id="t",
        context_id="c",
        follow_up=False,
    )


def test_the_platforms_message_is_an_assessment() -> None:
    sent = json.dumps({"participants": {"agent": "http://agent:9009/"}, "config": {"num_runs": 3, "seed": 7}})
    request = read_request(message(sent))
    assert {name: str(url) for name, url in request.participants.items()} == {"agent": "http://agent:9009/"}
    assert (request.config.num_runs, request.config.seed) == (3, 7)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (message("Hello"), "not JSON"),
        (message(), "exactly one text part"),
        (message("{}", "{}"), "exactly one text part"),
        (message("{}", data=({},)), "exactly one text part"),
        (message("{}", others=1), "exactly one text part"),
        (message("[1]"), "must be an object"),
        (message("3"), "must be an object"),
        (message("{}"), "needs at least one"),
        (message('{"participants": {}}'), "needs at least one"),
        (message('{"participants": ["http://a"]}'), "participants"),
        (message('{"participants": {"a": "no url"}}'), "participants.a"),
        (message('{"participants": {"a": "http://a"}, "config": {"num_runs": "many"}}'), "config.num_runs"),
        (message("[" * 100_000), "not JSON"),
    ],
)
def test_any_other_message_is_refused_with_the_reason(wrong: IncomingMessage, reason: str) -> None:
    with pytest.raises(NotAnAssessmentError, match=reason):
        read_request(wrong)


def test_many_errors_are_shortened() -> None:
    many = json.dumps({"participants": {f"a{i}": "no url" for i in range(20)}})
    with pytest.raises(NotAnAssessmentError, match=r"\(and 15 more\)"):
        read_request(message(many))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def with_config(config: object) -> str:
    return json.dumps({"participants": {}, "config": config})


@given(st.text() | json_values.map(json.dumps) | json_values.map(with_config))
def test_any_text_is_a_request_or_refused(text: str) -> None:
    with suppress(NotAnAssessmentError):
        read_request(message(text))
