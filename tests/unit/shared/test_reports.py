"""A digest names the content of a step; a stored batch gives back what went in."""

from datetime import UTC, datetime

from hypothesis import given

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
