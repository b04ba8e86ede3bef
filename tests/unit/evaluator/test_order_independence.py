"""The law of projection: the result depends on what was reported, never on when, how often or in which batches."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.identity import GREEN_AGENT
from concord.reports import Channel, Report, digest
from concord.steps import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord_evaluator.trace import Projection, project
from tests.unit.evaluator.traces import RECEIVED_AT, TRACE_ID, roster, url_of

AGENTS = ("A", "B", "C", "D")
STEP_IDS = st.sampled_from([str(number) for number in range(6)])
"""Few ids, so that conflicts, cycles, retries and meeting ends all happen."""


@st.composite
def steps(draw: st.DrawFn, depth: int = 2) -> InteractionStep:
    callee = draw(st.sampled_from(["", *AGENTS, "stranger"]))
    nested = draw(st.lists(steps(depth=depth - 1), max_size=2)) if depth else []
    requests: dict[str, JsonValue] | None = {"text": "hello"} if draw(st.booleans()) else None
    call = AgentInvocation(
        agent_url=url_of(callee) if callee and draw(st.booleans()) else "",
        agent_name=callee,
        requests=requests,
        response_trace=ResponseTrace(trace_id=TRACE_ID, steps=nested) if nested else None,
    )
    attributes = draw(st.dictionaries(st.sampled_from(["agent_name", "retry_of", "error"]), STEP_IDS, max_size=2))
    return InteractionStep(
        step_id=draw(STEP_IDS),
        trace_id=TRACE_ID,
        parent_step_id=draw(st.none() | STEP_IDS),
        call_type=draw(st.sampled_from(CallType)),
        step_action=StepAction(agent_invocation=call),
        additional_attributes=attributes,
        latency=draw(st.none() | st.integers(0, 9)),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    step = draw(steps())
    channel = draw(st.sampled_from(Channel))
    reporter = GREEN_AGENT if channel is Channel.OBSERVED else draw(st.sampled_from(AGENTS))
    return Report(step, reporter, draw(st.booleans()), channel, RECEIVED_AT, digest(step))


def read(told: list[Report]) -> Projection:
    projection = project(told, roster(*AGENTS))
    return replace(projection, integrity=projection.integrity.model_copy(update={"duplicate": 0}))


@settings(max_examples=80, deadline=None)
@given(st.lists(reports(), max_size=8).flatmap(lambda told: st.tuples(st.just(told), st.permutations(told))))
def test_the_order_of_arrival_changes_nothing(cases: tuple[list[Report], list[Report]]) -> None:
    told, shuffled = cases
    assert read(told) == read(shuffled)


@settings(max_examples=50, deadline=None)
@given(st.lists(reports(), max_size=8), st.data())
def test_reports_that_come_again_change_nothing_but_their_count(told: list[Report], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(told), max_size=8)) if told else []
    assert read(told) == read(told + again)


@settings(max_examples=50, deadline=None)
@given(st.lists(reports(), max_size=8))
def test_whatever_is_told_every_end_of_an_interaction_is_a_node_and_no_node_is_the_green_agent(
    told: list[Report],
) -> None:
    projection = read(told)
    ends = {end for call in projection.interactions for end in (call.caller, call.callee)}
    assert ends <= set(projection.agents)
    assert not set(projection.agents) & {GREEN_AGENT, "unknown", ""}
