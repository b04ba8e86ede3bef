"""Hypothesis strategies for reports: few ids and names, so that conflicts, cycles, retries and double reports occur."""

from datetime import timedelta
from functools import cache

from hypothesis import strategies as st
from pydantic import JsonValue

from concord.trace.report import Channel, Report
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord.trace.stored_step import Step
from concord.wire.roster import GREEN_AGENT
from tests.kit.traces import RECEIVED_AT, TRACE_ID, url_of

AGENTS = ("A", "B", "C", "D")
STEP_IDS = st.sampled_from([str(number) for number in range(6)])
TRACE_IDS = st.sampled_from([TRACE_ID, TRACE_ID, TRACE_ID, "another"])
MOMENTS = st.integers(-3, 9).map(lambda seconds: RECEIVED_AT + timedelta(seconds=seconds))
"""Times of clocks that need not agree."""


# Strategies of the drawing functions below. Hypothesis would validate those made within a function for each draw anew.
_CALLEES = st.sampled_from(["", *AGENTS, "stranger"])
_REQUESTS = st.sampled_from(["", "hello", "hello world"])
_ATTRIBUTES = st.dictionaries(st.sampled_from(["agent_name", "retry_of", "error"]), STEP_IDS, max_size=2)
_PARENTS = st.none() | STEP_IDS
_CALL_TYPES = st.sampled_from(CallType)
_LARGEST = st.just(2**63 - 1)
_LATENCIES = st.none() | st.integers(0, 9) | _LARGEST
_TOKENS = st.none() | st.integers(-1, 9) | _LARGEST
_OPTIONAL_MOMENTS = st.none() | MOMENTS
_BOOLEANS = st.booleans()
_CHANNELS = st.sampled_from(Channel)
_REPORTERS = st.sampled_from(AGENTS)


@cache
def _nested_steps(depth: int) -> st.SearchStrategy[list[InteractionStep]]:
    return st.lists(steps(depth=depth), max_size=2)


@st.composite
def steps(draw: st.DrawFn, depth: int = 2) -> InteractionStep:
    callee = draw(_CALLEES)
    nested = draw(_nested_steps(depth - 1)) if depth else []
    asked = draw(_REQUESTS)
    requests: dict[str, JsonValue] | None = {"text": asked} if asked else None
    call = AgentInvocation(
        agent_url=url_of(callee) if callee and draw(_BOOLEANS) else "",
        agent_name=callee,
        requests=requests,
        response_trace=ResponseTrace(trace_id=TRACE_ID, steps=nested) if nested else None,
    )
    attributes = draw(_ATTRIBUTES)
    return InteractionStep(
        step_id=draw(STEP_IDS),
        trace_id=draw(TRACE_IDS),
        parent_step_id=draw(_PARENTS),
        call_type=draw(_CALL_TYPES),
        step_action=StepAction(agent_invocation=call),
        additional_attributes=attributes,
        latency=draw(_LATENCIES),
        total_tokens=draw(_TOKENS),
        start_time=draw(_OPTIONAL_MOMENTS),
        end_time=draw(_OPTIONAL_MOMENTS),
    )


_STEPS = steps()


@st.composite
def reports(draw: st.DrawFn) -> Report:
    step = draw(_STEPS)
    channel = draw(_CHANNELS)
    reporter = GREEN_AGENT if channel is Channel.OBSERVED else draw(_REPORTERS)
    return Report(Step.of(step), reporter, draw(_BOOLEANS), channel, RECEIVED_AT)
