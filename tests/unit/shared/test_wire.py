"""The decoding of the usual form agrees with the models: what it accepts, they accept with the same meaning."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from concord.trace.decoding import read
from concord.trace.report import StepBatch
from concord.trace.step import AgentInvocation, InteractionStep, ResponseTrace, StepAction, ToolInvocation
from concord.trace.stored_step import AnswerTrace, CalledAgent, Invocation, Step, TraceBatch, UsedTool, read_usual
from tests.kit.strategies import steps

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


def limits(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """A JSON schema without titles, defaults and formats, and with the largest integer in one notation."""
    if isinstance(schema, list):
        return [limits(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: limits(value) for key, value in schema.items() if key not in ("title", "default", "format")}
    if "exclusiveMaximum" in kept:
        kept["maximum"] = kept.pop("exclusiveMaximum") - 1
    return {key: value.rpartition("/")[2] if key == "$ref" else value for key, value in kept.items()}


def assert_read_alike(text: bytes) -> None:
    usual = read_usual(text)
    if usual is not None:
        assert StepBatch.model_validate(msgspec.to_builtins(usual)) == StepBatch.model_validate_json(text)


@given(st.lists(steps, max_size=3))
def test_valid_batches_are_read_alike(batch_steps: list[InteractionStep]) -> None:
    assert_read_alike(body(*map(sent, batch_steps)))


@given(steps, st.dictionaries(st.sampled_from([*STEP_KEYS, "stepId", "unknown"]), values, max_size=3))
def test_steps_with_arbitrary_fields_are_read_alike_or_left_to_the_models(
    step: InteractionStep, changes: dict[str, JsonValue]
) -> None:
    assert_read_alike(body(sent(step) | changes))


TIMESTAMPS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["2026-01-01", "0001-01-01", "9999-12-31", "2026-02-29"]),
    st.sampled_from(["T", " ", "t"]),
    st.sampled_from(["00:00:00", "23:59:59", "23:59:60", "12:00"]),
    st.from_regex(r"([.,][0-9]{1,12})?", fullmatch=True),
    st.sampled_from(["Z", "z", "", "+01:00", "-23:59", "+0100", "+24:00"]),
)


@given(TIMESTAMPS)
def test_timestamps_are_read_alike_or_left_to_the_models(timestamp: str) -> None:
    assert_read_alike(body(step(start_time=timestamp)))


@pytest.mark.parametrize("form", [{}, {"unknown": 1}], ids=["usual", "unusual"])
def test_a_timestamp_is_rounded_to_microseconds(form: dict[str, JsonValue]) -> None:
    [rounded] = read(body(step(start_time="2026-12-31T23:59:59.9999995Z", **form))).steps
    assert rounded.start_time == datetime(2027, 1, 1, tzinfo=UTC)


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


TWINS = [
    (TraceBatch, StepBatch),
    (Step, InteractionStep),
    (Invocation, StepAction),
    (CalledAgent, AgentInvocation),
    (UsedTool, ToolInvocation),
    (AnswerTrace, ResponseTrace),
]
NESTED = {"steps", "step_action", "tool_invocation", "agent_invocation", "response_trace"}
"""Fields whose types are structs themselves."""
SHALLOW = {"error", "parameters", "requests"}
"""Fields of any JSON, in which the structs accept no deep nesting."""


@pytest.mark.parametrize(("struct", "model"), TWINS, ids=lambda each: each.__name__)
def test_a_struct_has_the_fields_of_its_model(struct: type[msgspec.Struct], model: type[BaseModel]) -> None:
    assert set(struct.__struct_fields__) == model.model_fields.keys()


@pytest.mark.parametrize(("struct", "model"), TWINS, ids=lambda each: each.__name__)
def test_the_fields_of_a_struct_have_the_types_and_limits_of_its_model(
    struct: type[msgspec.Struct], model: type[BaseModel]
) -> None:
    _, structs = msgspec.json.schema_components([TraceBatch])
    batch = StepBatch.model_json_schema(by_alias=False)
    models = batch["$defs"] | {"StepBatch": batch}
    ours, theirs = structs[struct.__name__]["properties"], models[model.__name__]["properties"]
    for name in set(struct.__struct_fields__) - NESTED - SHALLOW:
        assert limits(ours[name]) == limits(theirs[name]), name


@pytest.mark.parametrize(("struct", "model"), TWINS, ids=lambda each: each.__name__)
def test_the_optional_fields_of_a_struct_are_those_of_its_model(
    struct: type[msgspec.Struct], model: type[BaseModel]
) -> None:
    required = {field.name for field in msgspec.structs.fields(struct) if field.required}
    assert required == {name for name, field in model.model_fields.items() if field.is_required()} | (
        {"batch_id"} if struct is TraceBatch else set()
    )


def test_the_usual_form_is_read_without_the_models() -> None:
    call: dict[str, JsonValue] = {
        "step_id": "s", "trace_id": "t", "parent_step_id": "p", "call_type": "AGENT", "latency": 3,
        "step_action": {"agent_invocation": {"agent_url": "http://b", "agent_name": "b",
                                             "requests": {"text": "go", "parts": [{"kind": "text"}]}}},
        "start_time": "2026-01-01T00:00:00Z", "additional_attributes": {"retry_of": "q"},
    }  # fmt: skip
    assert read_usual(body(call, dropped={"buffer_full": 2})) is not None
