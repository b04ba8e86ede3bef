"""Hypothesis strategies for reports: few ids and names, so that conflicts, cycles, retries and double reports occur."""

from datetime import timedelta

from hypothesis import strategies as st
from pydantic import JsonValue

from concord.assessment.roster import GREEN_AGENT
from concord.trace.digest import digest
from concord.trace.report import Channel, Report
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from tests.unit.evaluator.traces import RECEIVED_AT, TRACE_ID, url_of

AGENTS = ("A", "B", "C", "D")
STEP_IDS = st.sampled_from([str(number) for number in range(6)])
TRACE_IDS = st.sampled_from([TRACE_ID, TRACE_ID, TRACE_ID, "another"])
MOMENTS = st.integers(-3, 9).map(lambda seconds: RECEIVED_AT + timedelta(seconds=seconds))
"""Times of clocks that need not agree."""


@st.composite
def steps(draw: st.DrawFn, depth: int = 2) -> InteractionStep:
    callee = draw(st.sampled_from(["", *AGENTS, "stranger"]))
    nested = draw(st.lists(steps(depth=depth - 1), max_size=2)) if depth else []
    asked = draw(st.sampled_from(["", "hello", "hello world"]))
    requests: dict[str, JsonValue] | None = {"text": asked} if asked else None
    call = AgentInvocation(
        agent_url=url_of(callee) if callee and draw(st.booleans()) else "",
        agent_name=callee,
        requests=requests,
        response_trace=ResponseTrace(trace_id=TRACE_ID, steps=nested) if nested else None,
    )
    attributes = draw(st.dictionaries(st.sampled_from(["agent_name", "retry_of", "error"]), STEP_IDS, max_size=2))
    return InteractionStep(
        step_id=draw(STEP_IDS),
        trace_id=draw(TRACE_IDS),
        parent_step_id=draw(st.none() | STEP_IDS),
        call_type=draw(st.sampled_from(CallType)),
        step_action=StepAction(agent_invocation=call),
        additional_attributes=attributes,
        latency=draw(st.none() | st.integers(0, 9)),
        total_tokens=draw(st.none() | st.integers(-1, 9)),
        start_time=draw(st.none() | MOMENTS),
        end_time=draw(st.none() | MOMENTS),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    step = draw(steps())
    channel = draw(st.sampled_from(Channel))
    reporter = GREEN_AGENT if channel is Channel.OBSERVED else draw(st.sampled_from(AGENTS))
    return Report(step, reporter, draw(st.booleans()), channel, RECEIVED_AT, digest(step))
