"""The fast decoder agrees with the models: what it accepts, they accept with the same meaning."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.trace.decoding import FastBatch, FastStep, read_fast
from concord.trace.report import StepBatch
from concord.trace.step import InteractionStep
from tests.strategies import steps

STEP_KEYS = sorted(InteractionStep.model_fields)
HOSTILE = st.sampled_from(
    ["", "x" * 64, "x" * 65, "x" * 257, "AGENT", "HOST", "PHONE", "2026-01-01T00:00:00Z", "2026-01-01", "10:00",
     "\ud83d",
     "2026-01-01T00:00:60Z", "0000-01-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01 00:00:00+01:00", "1e3",
     "9999-12-31T23:59:59.999999999-23:59", "2026-01-01T00:00:00.1234567Z", "2026-1-1T0:0:0Z", "1700000000", "NaN"]
)  # fmt: skip
NUMBERS = st.sampled_from([0, -1, 3, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 1.5, 3.0, -0.0, 1e308])
values = st.recursive(
    st.none() | st.booleans() | NUMBERS | HOSTILE,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(HOSTILE, inner, max_size=2),
    max_leaves=6,
)


def sent(step: InteractionStep) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(step.model_dump_json(exclude_none=True))
    return written


def step(**changes: JsonValue) -> dict[str, JsonValue]:
    return {"step_id": "s", "trace_id": "t", "call_type": "TOOL"} | changes


def body(*steps: JsonValue, **changes: JsonValue) -> bytes:
    return json.dumps({"batch_id": "b", "trace_id": "t", "reporter": "r", "steps": list(steps)} | changes).encode()


def assert_read_alike(text: bytes) -> None:
    fast = read_fast(text)
    if fast is not None:
        assert StepBatch.model_validate(msgspec.to_builtins(fast)) == StepBatch.model_validate_json(text)


@given(st.lists(steps, max_size=3))
def test_valid_batches_are_read_alike(batch_steps: list[InteractionStep]) -> None:
    assert_read_alike(body(*map(sent, batch_steps)))


@given(steps, st.dictionaries(st.sampled_from([*STEP_KEYS, "stepId", "unknown"]), values, max_size=3))
def test_steps_with_arbitrary_fields_are_read_alike_or_left_to_the_models(
    step: InteractionStep, changes: dict[str, JsonValue]
) -> None:
    assert_read_alike(body(sent(step) | changes))


@given(
    st.dictionaries(st.sampled_from(["batch_id", "trace_id", "reporter", "steps", "dropped", "x"]), values, max_size=2)
)
def test_batches_with_arbitrary_fields_are_read_alike_or_left_to_the_models(changes: dict[str, JsonValue]) -> None:
    assert_read_alike(body(step(), **changes))


@pytest.mark.parametrize(
    "text",
    [
        b'{"batch_id":"b","trace_id":"t","trace_id":"u","reporter":"r"}',
        body(step()).replace(b'"step_id"', b'"step_id": "u", "step_id"'),
        b'{"batch_id":"b","trace_id":"t","reporter":"r","dropped":{"a":1,"a":2}}',
        body(step(requests={"x": 1})).replace(b": 1}", b": 1e999}"),
        body(step(requests={"x": 1})).replace(b": 1}", b": NaN}"),
        body(step(error=1)).replace(b": 1}", b": " + b"9" * 5000 + b"}"),
        body(step(error=1)).replace(
            b": 1}", b": " + b"[" * 300 + b"]" * 300 + b"}"
        ),
        b"\xef\xbb\xbf" + body(),
        body() + b"\0",
        body() + b" {}",
        b'{"batch_id":"\\ud800","trace_id":"t","reporter":"r"}',
        b'{"batch_id":"\xff","trace_id":"t","reporter":"r"}',
    ],
)  # fmt: skip
def test_unusual_json_is_read_alike_or_left_to_the_models(text: bytes) -> None:
    assert_read_alike(text)


def test_the_fast_structs_have_the_fields_of_the_models() -> None:
    assert {field.name for field in msgspec.structs.fields(FastStep)} == InteractionStep.model_fields.keys()
    assert {field.name for field in msgspec.structs.fields(FastBatch)} == StepBatch.model_fields.keys()


def test_the_usual_form_is_read_by_the_fast_decoder() -> None:
    call: dict[str, JsonValue] = {
        "step_id": "s", "trace_id": "t", "parent_step_id": "p", "call_type": "AGENT", "latency": 3,
        "step_action": {"agent_invocation": {"agent_url": "http://b", "agent_name": "b",
                                             "requests": {"text": "go", "parts": [{"kind": "text"}]}}},
        "start_time": "2026-01-01T00:00:00Z", "additional_attributes": {"retry_of": "q"},
    }  # fmt: skip
    assert read_fast(body(call, dropped={"buffer_full": 2})) is not None
