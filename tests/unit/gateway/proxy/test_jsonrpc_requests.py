"""Requests of either A2A version: read as JSON-RPC, and rewritten with the callee's assignment."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from concord.wire.assignment import ASSIGNMENT_KEY, ASSIGNMENT_URI, TRACEPARENT_KEY, Assignment
from concord_gateway.proxy.rpc_request import RpcFaultError, RpcRequest, read_request

TRACE, STEP = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLEES = Assignment(assessment_id="a1", trace_id=TRACE, step_id=STEP, agent_id="b", token=SecretStr("b's own"))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(document: object) -> RpcRequest:
    return read_request(json.dumps(document).encode())


def sending(message: object, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message} | params}


@given(json_values, json_values)
def test_a_request_without_a_message_is_unchanged(params: object, request_id: object) -> None:
    if isinstance(params, dict):
        params.pop("message", None)
        params.pop("metadata", None)
    document = {"jsonrpc": "2.0", "id": request_id, "method": "tasks/get", "params": params}
    assert json.loads(read(document).rewritten(None)) == document


@given(st.dictionaries(st.text(), json_values, max_size=4), st.dictionaries(st.text(), json_values, max_size=4))
def test_a_message_is_unchanged_but_for_its_context(message: dict[str, Any], metadata: dict[str, Any]) -> None:
    message = {key: value for key, value in message.items() if key not in {"metadata", "extensions"}}
    sent = read(sending(message | {"metadata": metadata})).rewritten(CALLEES)
    passed = json.loads(sent)["params"]["message"]
    written = CALLEES.metadata()
    assert {key: passed["metadata"][key] for key in written} == written
    assert {key: value for key, value in passed["metadata"].items() if key not in written} == {
        key: value for key, value in metadata.items() if key not in written
    }
    assert passed["extensions"] == [ASSIGNMENT_URI]
    assert {key: value for key, value in passed.items() if key not in {"metadata", "extensions"}} == message


@pytest.mark.parametrize("metadata", [None, "text", 7, [], {}])
@pytest.mark.parametrize("extensions", [None, "text", ["x"], [ASSIGNMENT_URI]])
def test_a_message_of_any_form_gets_the_callees_assignment(metadata: object, extensions: object) -> None:
    message = {"parts": [], "metadata": metadata, "extensions": extensions}
    passed = json.loads(read(sending(message)).rewritten(CALLEES))["params"]["message"]
    assert Assignment.from_metadata(passed["metadata"]) == CALLEES
    assert passed["extensions"].count(ASSIGNMENT_URI) == 1


def test_the_context_in_the_metadata_of_the_request_is_removed() -> None:
    forged = {ASSIGNMENT_KEY: {"agent_id": "c"}, TRACEPARENT_KEY: "00-x", "kept": 1}
    for assignment in (CALLEES, None):
        passed = json.loads(read(sending({"parts": []}, metadata=forged)).rewritten(assignment))
        assert passed["params"]["metadata"] == {"kept": 1}


class TestTheCallersStepId:
    def test_the_step_id_comes_from_the_callers_assignment(self) -> None:
        request = read(sending({"metadata": CALLEES.metadata()}))
        assert request.wanted_step_id(TRACE, {}) == STEP

    def test_without_an_assignment_the_step_id_comes_from_the_trace_context(self) -> None:
        context = f"00-{TRACE}-{STEP}-01"
        assert read(sending({"metadata": {TRACEPARENT_KEY: context}})).wanted_step_id(TRACE, {}) == STEP
        assert read(sending({})).wanted_step_id(TRACE, {TRACEPARENT_KEY: context}) == STEP

    @pytest.mark.parametrize("context", ["", "nonsense", f"00-{'1' * 32}-{STEP}-01", f"00-{TRACE}-xyz-01"])
    def test_a_foreign_or_invalid_context_gives_no_step_id(self, context: str) -> None:
        foreign = CALLEES.model_copy(update={"trace_id": "elsewhere"})
        for metadata in (foreign.metadata(), {TRACEPARENT_KEY: context}, {ASSIGNMENT_KEY: "nonsense"}, {}):
            assert read(sending({"metadata": metadata})).wanted_step_id(TRACE, {TRACEPARENT_KEY: context}) == ""


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_a_request_or_refused(body: bytes) -> None:
    try:
        request = read_request(body)
    except RpcFaultError as refusal:
        assert refusal.code in {-32700, -32600}  # noqa: PT017 - both outcomes are right
    else:
        assert isinstance(json.loads(request.rewritten(CALLEES)), dict)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([{"kind": "text", "text": "a"}, {"kind": "data", "data": {}}, {"text": "b"}], "a\nb"),
        ([{"text": 7}, "x", None], ""),
        (None, ""),
        ("x", ""),
    ],
)
def test_the_text_is_that_of_the_text_parts_of_either_version(parts: object, text: str) -> None:
    assert read(sending({"parts": parts})).text == text


@pytest.mark.parametrize(("context", "task"), [("contextId", "taskId"), ("context_id", "task_id")])
def test_a_message_is_placed_in_a_context_whatever_it_names_in_any_spelling(context: str, task: str) -> None:
    elsewhere = {context: "elsewhere", task: "t1", "referenceTaskIds": ["t2"], "reference_task_ids": ["t3"]}
    sent = {"messageId": "m", "parts": [{"text": "hello"}], **elsewhere}
    later = {"pushNotificationConfig": {"url": "http://x/"}, "task_push_notification_config": {}, "historyLength": 3}
    params = {"message": sent, "configuration": later}
    rpc = read_request(json.dumps({"method": "message/send", "params": params}).encode())
    assert rpc.task_id == "t1"
    rpc.place_in("here")
    document = json.loads(rpc.rewritten(None))
    assert document["params"] == {
        "message": {"messageId": "m", "parts": [{"text": "hello"}], "contextId": "here", "taskId": "t1"},
        "configuration": {"historyLength": 3},
    }


@pytest.mark.parametrize(
    ("method", "part", "sends"),
    [
        ("message/send", {"kind": "text", "text": "x"}, True),
        ("SendStreamingMessage", {"data": {"file": "a name in the data"}}, True),
        ("message/send", {"kind": "file", "file": {"uri": "http://x/"}}, False),
        ("SendMessage", {"raw": "aGk="}, False),
        ("ListTasks", {"text": "x"}, False),
    ],
)
def test_only_messages_of_text_and_data_count_as_such(method: str, part: dict[str, Any], sends: bool) -> None:
    document = {"method": method, "params": {"message": {"parts": [part]}}}
    assert read_request(json.dumps(document).encode()).sends_message is sends
