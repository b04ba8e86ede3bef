"""Decoding: the evaluation of a stored step is the same with the models and without them."""

import json
from datetime import UTC, datetime

from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.assessment.results import CallRecord
from concord.trace.report import Channel, Report, StepBatch
from concord.trace.step import InteractionStep
from concord.trace.stored_step import Step, read_usual
from concord_evaluator.judge.evidence import call_texts
from concord_evaluator.trace.fold import fold
from tests.kit.digests import digest
from tests.kit.strategies import steps, texts

objects = st.dictionaries(texts, texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False), max_size=2)
calls = st.fixed_dictionaries({}, optional={"agent_url": texts, "agent_name": texts, "requests": objects})
tools = st.fixed_dictionaries({"tool_name": texts}, optional={"parameters": objects})
forms = st.fixed_dictionaries(
    {},
    optional={
        "parent_step_id": st.just(""),
        "name": texts,
        "requests": objects,
        "parameters": objects,
        "error": texts | st.integers() | st.booleans() | st.lists(texts, max_size=2) | objects,
        "step_action": st.fixed_dictionaries({}, optional={"agent_invocation": calls, "tool_invocation": tools}),
        "start_time": st.datetimes().map(datetime.isoformat),
        "end_time": st.datetimes().map(lambda moment: f"{moment.isoformat()}+05:30"),
    },
)
"""Fields that either form of a step may have, and times with and without a zone."""


def kept_of(step: Step) -> tuple[object, ...]:
    """Everything that an evaluation keeps of a step."""
    report = Report(step, "ann", False, Channel.HTTP, datetime(2026, 1, 1, tzinfo=UTC))
    made = CallRecord(
        step_id=step.step_id,
        parent_step_id=None,
        caller="ann",
        callee="bob",
        start_ms=None,
        duration_ms=None,
        error=None,
        provenance="reported",
        on_critical_path=False,
    )
    [read], texts = (folded := fold([report])).records, folded.texts
    return digest(step), read, texts, call_texts([report], [made]), list(step.answer_steps)


@given(steps, forms)
def test_both_decoders_yield_the_same_step(step: InteractionStep, changes: dict[str, JsonValue]) -> None:
    sent = json.loads(step.model_dump_json(exclude_none=True)) | changes
    body = json.dumps({"batch_id": "b", "trace_id": "t", "reporter": "ann", "steps": [sent]}).encode()
    fast = read_usual(body)
    assume(fast is not None)
    assert fast is not None
    assert kept_of(fast.steps[0]) == kept_of(Step.of(StepBatch.model_validate_json(body).steps[0]))
