"""Answers of either A2A version, whole or streamed: how the call ended, and its text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.timing import MAX_QUOTED
from concord.wire.assignment import TRACEABILITY_KEY
from concord_gateway.proxy.call_recorder import CallAnswer
from tests.unit.gateway.proxy.test_jsonrpc_requests import json_values


def read(*results: Any) -> CallAnswer:  # noqa: ANN401 - any JSON
    reader = CallAnswer()
    for result in results:
        reader.take({"jsonrpc": "2.0", "id": 1, "result": result})
    return reader


def status(state: str, text: str = "") -> dict[str, Any]:
    return {"state": state} | ({"message": {"parts": [{"text": text}]}} if text else {})


STREAMS = {
    "0.3": [
        {"kind": "task", "id": "t", "contextId": "c", "status": status("submitted")},
        {"kind": "status-update", "taskId": "t", "status": status("working", "thinking")},
        {"kind": "artifact-update", "taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "one "}]}},
        {
            "kind": "artifact-update",
            "taskId": "t",
            "append": True,
            "artifact": {"artifactId": "a", "parts": [{"text": "two"}]},
        },
        {"kind": "status-update", "taskId": "t", "final": True, "status": status("completed")},
    ],
    "1.0": [
        {"task": {"id": "t", "contextId": "c", "status": status("TASK_STATE_SUBMITTED")}},
        {"statusUpdate": {"taskId": "t", "status": status("TASK_STATE_WORKING", "thinking")}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "one "}]}}},
        {
            "artifactUpdate": {
                "taskId": "t",
                "append": True,
                "artifact": {"artifactId": "a", "parts": [{"text": "two"}]},
            }
        },
        {"statusUpdate": {"taskId": "t", "status": status("TASK_STATE_COMPLETED")}},
    ],
}


@pytest.mark.parametrize("version", STREAMS)
def test_a_stream_adds_up_to_its_final_state_and_text(version: str) -> None:
    *before, last = STREAMS[version]
    reader = read(*before)
    assert (reader.ended, reader.under_way, reader.state, reader.task_id) == (False, True, "working", "t")
    reader.take({"result": last})
    assert (reader.ended, reader.under_way, reader.error, reader.text) == (True, False, None, "one two")


@pytest.mark.parametrize(
    "result", [{"kind": "message", "parts": [{"text": "hi"}]}, {"message": {"parts": [{"text": "hi"}]}}]
)
def test_a_bare_message_is_a_completed_answer(result: dict[str, Any]) -> None:
    reader = read(result)
    assert (reader.state, reader.text, reader.ended, reader.error) == ("completed", "hi", True, None)


@pytest.mark.parametrize("state", ["failed", "rejected", "canceled", "auth-required", "TASK_STATE_FAILED"])
def test_a_task_that_fails_is_an_error_with_its_message(state: str) -> None:
    reader = read({"id": "t", "status": status(state, "a bug")})
    plain = state.removeprefix("TASK_STATE_").lower()
    assert (reader.ended, reader.error) == (True, f"the agent ended with {plain}: a bug")


def test_a_question_ends_the_call_without_an_error() -> None:
    reader = read({"id": "t", "status": status("input-required", "which?")})
    assert (reader.ended, reader.error, reader.text) == (True, None, "which?")


def test_a_json_rpc_error_is_the_error_of_the_call() -> None:
    reader = CallAnswer()
    reader.take({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}})
    assert (reader.ended, reader.error) == (True, "JSON-RPC error -32001: Task not found")


@pytest.mark.parametrize(
    "holder",
    [
        lambda carried: {"id": "t", "status": status("completed"), "metadata": carried},
        lambda carried: {"id": "t", "status": {"state": "completed", "message": {"parts": [], "metadata": carried}}},
        lambda carried: {"id": "t", "status": status("completed"), "artifacts": [{"parts": [], "metadata": carried}]},
        lambda carried: {"artifactUpdate": {"taskId": "t", "artifact": {"parts": [], "metadata": carried}}},
        lambda carried: {"kind": "message", "parts": [], "metadata": carried},
    ],
)
def test_an_in_band_trace_is_found_in_every_place(holder: Any) -> None:  # noqa: ANN401 - a lambda
    step = {"step_id": "s", "trace_id": "x", "call_type": "TOOL"}
    reader = read(holder({TRACEABILITY_KEY: {"trace_id": "x", "steps": [step]}}))
    assert reader.response_trace is not None
    assert [each.step_id for each in reader.response_trace.steps] == ["s"]
    assert read(holder({TRACEABILITY_KEY: "nonsense"})).response_trace is None


def test_the_quoted_text_is_bounded() -> None:
    artifacts = [{"artifactId": str(n), "parts": [{"text": "x" * 10_000}]} for n in range(500)]
    reader = read({"id": "t", "status": status("completed"), "artifacts": artifacts})
    assert len(reader.quoted) == MAX_QUOTED


@given(st.lists(json_values, max_size=5))
def test_malformed_answers_never_raise(documents: list[Any]) -> None:
    reader = CallAnswer()
    for document in documents:
        reader.take(document)
        reader.take({"result": document, "error": document})
        reader.take({"result": {"status": document, "artifact": document, "artifacts": document, "parts": document}})
    assert isinstance(reader.text, str)
    assert reader.error is None or isinstance(reader.error, str)
    assert reader.response_trace is None
