"""OpenTelemetry spans as interaction steps, by old and new conventions."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.trace.otlp import AttributeValue, Span, SpanError, genai, read_json, spans_in, to_step, without_internals
from concord.trace.otlp.content import Content
from concord.trace.step import CallType, InteractionStep
from concord.trace.stored_step import Step, written

TRACE = "5b8efff798038103d269b633813fc60c"


def span(
    span_id: str = "eee19b7ec3c1b174",
    parent_id: str = "",
    attributes: Mapping[str, AttributeValue] = {},
    **changes: object,
) -> Span:
    fields: dict[str, Any] = {
        "trace_id": TRACE, "span_id": span_id, "parent_id": parent_id, "name": "work", "scope": "", "service": "",
        "start_ns": 0, "end_ns": 0, "client": False, "failed": False,
        "message": "",
    }  # fmt: skip
    return Span(**fields | changes, attributes=attributes)


def export(*spans: dict[str, Any], service: str = "writer", scope: str = "s") -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"gen_ai.operation.name": "invoke_agent"}, CallType.AGENT),
        ({"gen_ai.operation.name": "execute_tool"}, CallType.TOOL),
        ({"gen_ai.operation.name": "chat"}, CallType.TOOL),
        ({"gen_ai.operation.name": "embeddings"}, CallType.TOOL),
        ({"gen_ai.operation.name": "create_agent"}, CallType.HOST),
        ({"openinference.span.kind": "AGENT"}, CallType.AGENT),
        ({"openinference.span.kind": "LLM"}, CallType.TOOL),
        ({"openinference.span.kind": "CHAIN"}, CallType.HOST),
        ({"traceloop.span.kind": "agent"}, CallType.AGENT),
        ({"traceloop.span.kind": "workflow"}, CallType.HOST),
        ({}, CallType.HOST),
    ],
)
def test_the_operation_decides_the_kind_of_step(attributes: dict[str, str], kind: CallType) -> None:
    assert to_step(span(attributes=attributes)).kind is kind


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("x", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "critic"}),
        ("invoke_agent critic", {"gen_ai.operation.name": "invoke_agent"}),
        ("x", {"openinference.span.kind": "AGENT", "agent.name": "critic"}),
        ("critic.agent", {"traceloop.span.kind": "agent", "traceloop.entity.name": "critic"}),
    ],
)
def test_the_agent_name_of_an_invocation_is_the_callees(name: str, attributes: dict[str, str]) -> None:
    read_span = span(name=name, attributes=attributes)
    call = to_step(read_span).agent_call
    assert call is not None
    assert (call.agent_name, read_span.agent) == ("critic", "")


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"},
        {"openinference.span.kind": "TOOL", "tool.name": "search"},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "search"},
    ],
)
def test_a_tool_is_named_by_its_attribute_and_not_by_its_span(attributes: dict[str, AttributeValue]) -> None:
    action = to_step(span(name="run of a tool", attributes=attributes)).step_action
    assert action is not None
    assert action.tool_invocation is not None
    assert action.tool_invocation.tool_name == "search"


def test_the_agent_name_of_another_span_is_that_of_the_agent_at_work() -> None:
    read_span = span(attributes={"gen_ai.operation.name": "chat", "gen_ai.agent.name": "critic"})
    assert read_span.agent == "critic"
    assert to_step(read_span, with_agent=True).additional_attributes["agent_name"] == "critic"


def test_a_model_is_a_tool_with_its_name_and_tokens() -> None:
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 12,
    }
    step = to_step(span(attributes=attributes))
    assert step.step_action is not None
    assert step.step_action.tool_invocation is not None
    assert (step.step_action.tool_invocation.tool_name, step.total_tokens) == ("m-1", 42)


def test_an_agent_call_counts_no_tokens() -> None:
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 30}
    assert to_step(span(attributes=attributes)).total_tokens is None


def test_older_attribute_names_are_read_and_newer_ones_take_precedence() -> None:
    old = span(attributes={"gen_ai.operation.name": "chat", "gen_ai.usage.prompt_tokens": 7})
    both = span(attributes=dict(old.attributes) | {"gen_ai.usage.input_tokens": 9})
    assert (to_step(old).total_tokens, to_step(both).total_tokens) == (7, 9)


def test_a_name_of_any_length_is_one_of_a_called_agent() -> None:
    step = to_step(span(attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "x" * 300}))
    assert step.agent_call is not None
    assert step.agent_call.agent_name == "x" * 256


def test_times_are_exact_to_the_microsecond_and_give_the_latency() -> None:
    step = to_step(span(start_ns=1_700_000_000_123_456_789, end_ns=1_700_000_000_373_456_789))
    assert step.start_time == datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)
    assert step.latency_ms == 250.0


def test_an_error_has_its_message_or_else_its_type() -> None:
    assert to_step(span(failed=True, message="no route")).failure == "no route"
    assert to_step(span(failed=True, attributes={"error.type": "timeout"})).failure == "timeout"
    assert to_step(span(attributes={"error.type": "timeout"})).failure is None


@pytest.mark.parametrize(
    "changes",
    [
        {"trace_id": ""},
        {"trace_id": "0" * 32},
        {"span_id": "0" * 16},
        {"span_id": "eee19b7ec3c1b17"},
        {"parent_id": "xyz"},
        {"end_ns": 2**80},
    ],
)
def test_a_span_that_cannot_be_a_step_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SpanError, match=r"\w"):
        to_step(span(**changes))


long_or_short = st.text(max_size=5) | st.sampled_from([9000, 300, 8192, 256]).map("x".__mul__)
numbers = st.integers() | st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1])


@given(
    st.sampled_from(["", "chat", "execute_tool", "invoke_agent", "x" * 8193]),
    st.dictionaries(
        st.sampled_from(["gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.request.model", "retry_of", "error.type"])
        | st.sampled_from(["gen_ai.tool.call.arguments", *genai.EFFECTS]),
        long_or_short,
    ),
    st.dictionaries(st.sampled_from(["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"]), numbers),
    long_or_short,
    st.booleans(),
)
def test_a_step_is_one_that_every_reader_accepts_or_its_span_is_refused(
    operation: str, texts: dict[str, str], counts: dict[str, int], name: str, failed: bool
) -> None:
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": operation, **texts, **counts}
    told = span(attributes=attributes, name=name, failed=failed, message=name, start_ns=5 * 10**18)
    try:
        step = to_step(told, with_agent=True)
    except SpanError:
        is_long = max(map(len, (operation, name, *texts.values()))) > 256
        assert is_long or not -(2**63) <= sum(counts.values()) < 2**63
        return
    assert InteractionStep.model_validate_json(written(step)).step_id == step.step_id
    assert msgspec.convert(msgspec.to_builtins(step), Step) == step


def test_internal_spans_of_the_sdk_are_removed_and_their_children_move_up() -> None:
    spans = [
        span("a" * 16, "1" * 16),
        span("b" * 16, "a" * 16, scope="a2a-python-sdk"),
        span("c" * 16, "b" * 16, scope="a2a-python-sdk"),
        span("d" * 16, "c" * 16),
    ]
    kept = {each.span_id: each.parent_id for each in without_internals(spans)}
    assert kept == {"a" * 16: "1" * 16, "d" * 16: "a" * 16}


def test_children_of_a_cycle_of_internal_spans_become_roots() -> None:
    spans = [
        span("b" * 16, "c" * 16, scope="a2a-python-sdk"),
        span("c" * 16, "b" * 16, scope="a2a-python-sdk"),
        span("d" * 16, "c" * 16),
    ]
    assert [each.parent_id for each in without_internals(spans)] == [""]


def test_many_children_of_a_long_chain_of_internal_spans_find_its_top() -> None:
    number = 20_000  # a step for each pair of them would take minutes
    ids = [f"{each:016x}" for each in range(number)]
    chain = [span(each, above, scope="a2a-python-sdk") for above, each in pairwise(["f" * 16, *ids[1:]])]
    children = [span(f"e{each[1:]}", ids[-1]) for each in ids]
    assert {each.parent_id for each in without_internals([*chain, *children])} == {"f" * 16}


def test_otlp_json_is_read_with_hex_ids_text_numbers_and_nested_values() -> None:
    written = {
        "traceId": TRACE.upper(),
        "spanId": "EEE19B7EC3C1B174",
        "parentSpanId": None,
        "name": "chat m",
        "kind": 3,
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": 1700000001000000000,
        "status": {"code": "STATUS_CODE_ERROR", "message": "no"},
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "30"}},
            {"key": "url.full", "value": {"stringValue": "http://x/secret"}},
            {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [{"kvlistValue": {"values": [
                {"key": "role", "value": {"stringValue": "user"}},
                {"key": "content", "value": {"stringValue": "Hello"}}]}}]}}},
        ],
        "flags": 257,
    }  # fmt: skip
    (read,) = read_json(json.dumps(export(written)).encode())
    assert (read.trace_id, read.span_id, read.parent_id) == (TRACE, "eee19b7ec3c1b174", "")
    assert (read.service, read.scope, read.client, read.failed, read.message) == ("writer", "s", True, True, "no")
    assert (read.start_ns, read.end_ns) == (1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
    assert read.attributes == {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 30}
    assert read.content == Content(input="Hello")


@pytest.mark.parametrize("body", [b"", b"[]", b'{"resourceSpans": 3}', b'{"resourceSpans": [{"scopeSpans": [7]}]}'])
def test_an_invalid_export_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        list(read_json(body))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["resourceSpans", "resource", "scopeSpans", "scope", "spans", "attributes", "key", "value",
                         "stringValue", "intValue", "arrayValue", "values", "traceId", "status", "code", "name"]),
        inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_any_json_is_read_or_refused(document: JsonValue) -> None:
    try:
        spans = list(spans_in(document))
    except ValueError:
        return
    for each in without_internals(spans):
        try:
            to_step(each)
        except SpanError:
            continue


def test_a_model_call_tells_the_tokens_that_it_read_and_wrote() -> None:
    told: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.completion_tokens": 12,
    }
    attributes = to_step(span(attributes=told)).additional_attributes
    assert attributes["gen_ai.usage.input_tokens"] == "30"
    assert attributes["gen_ai.usage.output_tokens"] == "12", "by its former name"
    agents = to_step(span(attributes={**told, "gen_ai.operation.name": "invoke_agent"})).additional_attributes
    assert "gen_ai.usage.input_tokens" not in agents, "an agent's span sums up those of its models"
