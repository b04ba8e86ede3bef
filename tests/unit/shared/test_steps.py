"""Interaction steps: read in every form in use, and written in the specification's form."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from pydantic import ValidationError

from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction, ToolInvocation
from concord.trace.stored_step import Step
from tests.kit.strategies import steps

SPEC_FORM = {
    "step_id": "s1",
    "trace_id": "t1",
    "parent_step_id": "",
    "call_type": "AGENT",
    "step_action": {"agent_invocation": {"agent_url": "http://b:9009/", "agent_name": "b", "requests": {"text": "hi"}}},
    "cost": 3,
    "total_tokens": 5,
    "additional_attributes": {"error": "refused"},
    "latency": 12,
    "start_time": "2026-01-01T00:00:00Z",
    "end_time": "2026-01-01T00:00:00.012Z",
}
CAMEL_CASE = {
    "stepId": "s1",
    "traceId": "t1",
    "callType": "AGENT",
    "stepAction": {"agentInvocation": {"agentUrl": "http://b:9009/", "agentName": "b", "requests": {"text": "hi"}}},
    "cost": "3",
    "totalTokens": "5",
    "additionalAttributes": {"error": "refused"},
    "latency": 12.0,
    "startTime": "2026-01-01T00:00:00Z",
    "endTime": "2026-01-01T00:00:00.012Z",
}
LIBRARY_FORM = {
    "step_id": "s1",
    "trace_id": "t1",
    "call_type": "HOST",
    "step_type": "anything",
    "name": "graph",
    "parameters": {"nodes": 5},
    "error": "out of memory",
    "latency": 12,
}


def test_the_specifications_form_and_protobufs_json_form_are_equivalent() -> None:
    assert InteractionStep.model_validate(SPEC_FORM).spec_form() == (
        InteractionStep.model_validate(CAMEL_CASE).spec_form() | {"parent_step_id": ""}
    )


def test_an_empty_parent_is_no_parent() -> None:
    assert InteractionStep.model_validate(SPEC_FORM).parent is None


def test_the_library_form_is_written_in_the_specifications_form() -> None:
    written = InteractionStep.model_validate(LIBRARY_FORM).spec_form()
    assert written["call_type"] == "TOOL"
    assert written["additional_attributes"] == {"call_type": "HOST", "error": "out of memory"}
    assert written["step_action"] == {"tool_invocation": {"tool_name": "graph", "parameters": {"nodes": 5}}}
    assert not written.keys() & {"error", "name", "parameters", "requests", "step_type"}


def test_a_host_step_survives_serialisation() -> None:
    step = InteractionStep(step_id="s", trace_id="t", call_type=CallType.HOST)
    assert InteractionStep.model_validate(step.spec_form()).kind is CallType.HOST


def test_an_agent_step_of_the_library_form_names_its_callee() -> None:
    step = InteractionStep(step_id="s", trace_id="t", call_type=CallType.AGENT, name="writer", requests={"text": "go"})
    assert step.agent_call == AgentInvocation(agent_name="writer", requests={"text": "go"})


def test_a_tool_step_calls_no_agent() -> None:
    action = StepAction(tool_invocation=ToolInvocation(tool_name="search"))
    assert InteractionStep(step_id="s", trace_id="t", call_type=CallType.TOOL, step_action=action).agent_call is None


def test_a_reported_latency_precedes_the_difference_of_the_times() -> None:
    step = InteractionStep(
        step_id="s",
        trace_id="t",
        call_type=CallType.AGENT,
        start_time=datetime(2026, 1, 1, tzinfo=UTC),
        end_time=datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC),
    )
    assert Step.of(step).latency_ms == 1000
    assert Step.of(step.model_copy(update={"latency": 7})).latency_ms == 7
    assert Step.of(step.model_copy(update={"start_time": None})).latency_ms is None


def test_times_in_reverse_order_give_a_latency_of_0() -> None:
    step = InteractionStep(
        step_id="s",
        trace_id="t",
        call_type=CallType.AGENT,
        start_time=datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC),
        end_time=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert Step.of(step).latency_ms == 0


def test_times_with_and_without_a_zone_can_be_subtracted() -> None:
    step = InteractionStep.model_validate(
        {
            "step_id": "s",
            "trace_id": "t",
            "call_type": "TOOL",
            "start_time": "2026-01-01T00:00:00",
            "end_time": "2026-01-01T01:00:02+01:00",
        }
    )
    assert Step.of(step).latency_ms == 2000


@pytest.mark.parametrize(
    "wrong",
    [
        {"step_id": ""},
        {"step_id": "x" * 65},
        {"trace_id": None},
        {"call_type": "PHONE"},
        {"latency": -1},
        {"latency": 1.5},
        {"additional_attributes": {str(i): "x" for i in range(65)}},
        {"additional_attributes": {"k": "x" * 8193}},
    ],
)
def test_a_field_out_of_bounds_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        InteractionStep.model_validate(SPEC_FORM | wrong)


@given(steps)
def test_writing_a_step_that_was_read_changes_nothing(step: InteractionStep) -> None:
    written = step.spec_form()
    assert InteractionStep.model_validate(written).spec_form() == written


@given(steps)
def test_kind_failure_latency_and_callee_survive_serialisation(step: InteractionStep) -> None:
    restored, sent = Step.of(InteractionStep.model_validate(step.spec_form())), Step.of(step)
    assert (restored.kind, restored.failure, restored.latency_ms) == (sent.kind, sent.failure, sent.latency_ms)
    assert (restored.agent_call is None) == (sent.agent_call is None)
