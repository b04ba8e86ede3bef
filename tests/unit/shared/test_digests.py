"""Digests: a digest identifies the content of a step in any of its forms."""

import json
from datetime import UTC, datetime
from hashlib import blake2b

import pytest
from hypothesis import given
from pydantic import JsonValue

from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction, ToolInvocation
from concord.trace.stored_step import Step
from tests.kit.digests import StepDigest
from tests.kit.digests import digest as digest_of
from tests.kit.strategies import steps
from tests.unit.shared.calls import call


def digest(step: InteractionStep) -> StepDigest:
    return digest_of(Step.of(step))


@given(steps)
def test_serialisation_does_not_change_a_digest(step: InteractionStep) -> None:
    assert digest(InteractionStep.model_validate(step.spec_form())) == digest(step)


@pytest.mark.parametrize(
    "requests",
    [
        None,
        {},
        {"text": 'Größe "1"\n'},
        {"b": [1, 2.5, None, {"y": 1, "x": "z"}], "a": True},
        {"beyond 64 bits": 2**64, "a": 2.5},
    ],
)
def test_a_digest_is_the_hash_of_the_facts_as_sorted_json(requests: dict[str, JsonValue] | None) -> None:
    called = AgentInvocation(agent_url="http://b", agent_name="b", requests=requests)
    moment = datetime(2026, 1, 1, 0, 0, 0, 5100, tzinfo=UTC)
    step = call(step_action=StepAction(agent_invocation=called), total_tokens=7, start_time=moment, error="no")
    measured = [None, 7, None, moment.timestamp(), None]
    attributes = {"a": "1", "b": "2"}
    facts = ["s", "t", None, "AGENT", ["http://b", "b", requests], None, *measured, "no", attributes]
    assert digest(step).content == _hash_of(facts)
    assert digest(step).request == (_hash_of(requests).hex() if requests else None)


def test_the_facts_of_a_tools_step_are_its_name_and_parameters() -> None:
    used = ToolInvocation(tool_name="llm", parameters={"model": "m"})
    step = call(call_type=CallType.TOOL, step_action=StepAction(tool_invocation=used), additional_attributes={})
    facts: list[object] = [
        "s",
        "t",
        None,
        "TOOL",
        None,
        ["llm", {"model": "m"}],
        None,
        None,
        None,
        None,
        None,
        None,
        {},
    ]
    assert digest(step) == (_hash_of(facts), None)


def _hash_of(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake2b(text.encode(), digest_size=16).digest()


def test_equal_times_in_any_zone_have_one_digest_and_a_missing_zone_is_utc() -> None:
    times = ["2026-01-01T12:00:00Z", "2026-01-01T14:00:00+02:00", "2026-01-01T12:00:00"]
    assert len({digest(call(start_time=moment, end_time=moment)) for moment in times}) == 1


@pytest.mark.parametrize(
    ("library", "spec"),
    [
        (
            {"call_type": "AGENT", "name": "b", "requests": {"text": "go"}},
            {"step_action": {"agent_invocation": {"agent_name": "b", "requests": {"text": "go"}}}},
        ),
        (
            {"call_type": "TOOL", "name": "llm", "parameters": {"model": "m"}},
            {
                "call_type": "TOOL",
                "step_action": {"tool_invocation": {"tool_name": "llm", "parameters": {"model": "m"}}},
            },
        ),
        (
            {"call_type": "HOST", "error": "no"},
            {"call_type": "TOOL", "additional_attributes": {"a": "1", "b": "2", "call_type": "HOST", "error": "no"}},
        ),
        ({"parent_step_id": ""}, {}),
    ],
)
def test_the_library_form_has_the_digest_of_the_specifications_form(
    library: dict[str, object], spec: dict[str, object]
) -> None:
    assert digest(call(**library)) == digest(call(**spec))


def test_the_order_of_attributes_does_not_matter() -> None:
    assert digest(call(additional_attributes={"b": "2", "a": "1"})) == digest(call())


def test_a_callees_own_trace_is_not_part_of_the_callers_step() -> None:
    def with_trace(trace: ResponseTrace | None) -> InteractionStep:
        return call(
            step_action=StepAction(agent_invocation=AgentInvocation(agent_url="http://b", response_trace=trace))
        )

    assert digest(with_trace(ResponseTrace(trace_id="t", steps=[call(step_id="s2")]))) == digest(with_trace(None))


def test_different_content_has_a_different_digest() -> None:
    variants = [call(), call(step_id="s2"), call(latency=3), call(error="x"), call(call_type=CallType.HOST)]
    assert len({digest(variant) for variant in variants}) == len(variants)
