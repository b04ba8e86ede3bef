"""Hypothesis strategies that the tests of several packages share: texts and interaction steps."""

from datetime import UTC

from hypothesis import strategies as st

from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction

texts = st.text(min_size=1, max_size=20)
steps = st.builds(
    InteractionStep,
    step_id=texts,
    trace_id=texts,
    parent_step_id=st.none() | texts,
    call_type=st.sampled_from(CallType),
    step_action=st.none()
    | st.builds(StepAction, agent_invocation=st.builds(AgentInvocation, agent_url=texts, agent_name=texts)),
    additional_attributes=st.dictionaries(texts, texts, max_size=3),
    latency=st.none() | st.integers(0, 10**12),
    start_time=st.none() | st.datetimes(timezones=st.just(UTC)),
    error=st.none() | texts,
)
