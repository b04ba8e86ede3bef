"""A digest names the content of a step; a stored batch gives back what went in."""

import json
from datetime import UTC, datetime
from hashlib import blake2b

import pytest
from hypothesis import given
from pydantic import JsonValue

from concord.reports import Channel, ReportBatch, StepBatch, digest, pack
from concord.steps import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from tests.strategies import steps


def call(**changes: object) -> InteractionStep:
    fields = {
        "step_id": "s",
        "trace_id": "t",
        "call_type": CallType.AGENT,
        "additional_attributes": {"a": "1", "b": "2"},
    }
    return InteractionStep.model_validate(fields | changes)


@given(steps)
def test_the_wire_does_not_change_a_digest(step: InteractionStep) -> None:
    assert digest(InteractionStep.model_validate(step.spec_form())) == digest(step)


@pytest.mark.parametrize(
    "requests",
    [None, {}, {"text": 'Größe "1"\n\x01\x7f'}, {"b": [1, 2.5, None, {"y": 1, "x": "z"}], "a": True}, {"n": 1e16}],
)
def test_a_digest_is_of_the_facts_as_canonical_json(requests: dict[str, JsonValue] | None) -> None:
    called = AgentInvocation(agent_url="http://b", agent_name="b", requests=requests)
    moment = datetime(2026, 1, 1, 0, 0, 0, 5100, tzinfo=UTC)
    step = call(step_action=StepAction(agent_invocation=called), total_tokens=7, start_time=moment, error="no")
    facts = [
        "s",
        "t",
        None,
        "AGENT",
        ["http://b", "b", requests],
        None,
        [None, 7, None, moment.timestamp(), None],
        "no",
    ]
    attributes = {"a": "1", "b": "2"}
    assert digest(step).content == _named([*facts, attributes])
    assert digest(step).request == (_named(requests).hex() if requests else None)


def _named(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake2b(text.encode(), digest_size=16).digest()


def test_the_order_of_attributes_does_not_matter() -> None:
    assert digest(call(additional_attributes={"b": "2", "a": "1"})) == digest(call())


def test_a_callees_own_trace_is_not_part_of_the_callers_step() -> None:
    def with_trace(trace: ResponseTrace | None) -> InteractionStep:
        return call(
            step_action=StepAction(agent_invocation=AgentInvocation(agent_url="http://b", response_trace=trace))
        )

    assert digest(with_trace(ResponseTrace(trace_id="t", steps=[call(step_id="s2")]))) == digest(with_trace(None))


def test_other_content_has_another_digest() -> None:
    variants = [call(), call(step_id="s2"), call(latency=3), call(error="x"), call(call_type=CallType.HOST)]
    assert len({digest(variant) for variant in variants}) == len(variants)


def test_a_stored_batch_gives_its_steps_back_as_reports() -> None:
    batch = StepBatch(trace_id="t", reporter="a", steps=[call(), call(step_id="s2")])
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    stored = ReportBatch(
        batch_id=batch.batch_id,
        trace_id="t",
        reporter="a",
        authenticated=False,
        channel=Channel.HTTP,
        received_at=moment,
        n_steps=2,
        dropped=0,
        body=pack(batch.model_dump_json().encode()),
    )
    reports = list(stored.reports())
    assert [report.step for report in reports] == batch.steps
    assert {(r.reporter, r.channel, r.received_at, r.authenticated) for r in reports} == {
        ("a", Channel.HTTP, moment, False)
    }
