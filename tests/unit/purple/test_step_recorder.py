"""An agent's steps for one message: their parent, their report, and their in-band trace."""

import pytest

from concord.agent.reporter import TraceReporter
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord.wire.assignment import TRACEABILITY_KEY, Assignment
from concord_purple.agent import MAX_TRACE_BYTES, MAX_TRACE_DEPTH, StepRecorder

ASSIGNMENT = Assignment(assessment_id="a", trace_id="t", step_id="caller", agent_id="me")


class _RecordingReporter(TraceReporter):
    """A reporter that records the steps reported to it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[InteractionStep] = []

    def report(self, step: InteractionStep, assignment: Assignment) -> None:
        assert assignment is ASSIGNMENT
        self.steps.append(step)


def _call(step_id: str, answer: ResponseTrace | None = None, text: str = "") -> InteractionStep:
    call = AgentInvocation(agent_url="http://peer/", agent_name="peer", response_trace=answer)
    return InteractionStep(
        step_id=step_id,
        trace_id="t",
        parent_step_id="caller",
        call_type=CallType.AGENT,
        step_action=StepAction(agent_invocation=call),
        additional_attributes={"response_text": text},
    )


def _nested(levels: int) -> ResponseTrace | None:
    if levels == 0:
        return None
    return ResponseTrace(trace_id="t", steps=[_call(f"level-{levels}", _nested(levels - 1))])


def _in_band(recorder: StepRecorder) -> ResponseTrace:
    return ResponseTrace.model_validate(recorder.metadata()[TRACEABILITY_KEY])


def _depth(steps: list[InteractionStep]) -> int:
    calls = [step.agent_call for step in steps]
    traces = [call.response_trace for call in calls if call is not None and call.response_trace is not None]
    return max((1 + _depth(trace.steps) for trace in traces), default=0)


def test_own_work_is_a_tool_step_under_the_callers_step() -> None:
    reporter = _RecordingReporter()
    recorder = StepRecorder(ASSIGNMENT, reporter)
    with recorder.tool("measure"):
        pass
    (step,) = reporter.steps
    assert (step.kind, step.parent, step.trace_id, step.failure) == (CallType.TOOL, "caller", "t", None)
    assert step.step_action is not None
    assert step.step_action.tool_invocation is not None
    assert step.step_action.tool_invocation.tool_name == "measure"
    assert [carried.step_id for carried in _in_band(recorder).steps] == [step.step_id]


def test_work_that_fails_leaves_its_step_with_the_error() -> None:
    reporter = _RecordingReporter()
    with pytest.raises(ValueError, match="no words"), StepRecorder(ASSIGNMENT, reporter).tool("measure"):
        raise ValueError("no words")
    assert reporter.steps[0].failure == "ValueError: no words"


def test_without_an_assignment_nothing_is_reported_or_sent_back() -> None:
    reporter = _RecordingReporter()
    recorder = StepRecorder(None, reporter)
    with recorder.tool("measure"):
        pass
    assert reporter.steps == []
    assert recorder.metadata() == {}


def test_a_callees_own_steps_travel_in_band_and_are_not_reported_twice() -> None:
    reporter = _RecordingReporter()
    recorder = StepRecorder(ASSIGNMENT, reporter)
    recorder.add(_call("one", _nested(2)), ASSIGNMENT)
    assert _depth(reporter.steps) == 0
    assert _depth(_in_band(recorder).steps) == 2


def test_nested_traces_are_cut_at_the_maximum_depth() -> None:
    recorder = StepRecorder(ASSIGNMENT, _RecordingReporter())
    recorder.add(_call("one", _nested(20)), ASSIGNMENT)
    assert _depth(_in_band(recorder).steps) == MAX_TRACE_DEPTH


def test_a_trace_that_is_too_long_loses_its_callees_steps_first() -> None:
    recorder = StepRecorder(ASSIGNMENT, _RecordingReporter())
    long = ResponseTrace(trace_id="t", steps=[_call(f"inner-{n}", text="x" * 8000) for n in range(40)])
    recorder.add(_call("one", long), ASSIGNMENT)
    recorder.add(_call("two"), ASSIGNMENT)
    carried = _in_band(recorder)
    assert [step.step_id for step in carried.steps] == ["one", "two"]
    assert _depth(carried.steps) == 0


def test_a_trace_that_is_still_too_long_loses_its_latest_steps() -> None:
    recorder = StepRecorder(ASSIGNMENT, _RecordingReporter())
    for n in range(100):
        recorder.add(_call(f"step-{n}", text="x" * 8000), ASSIGNMENT)
    carried = _in_band(recorder)
    assert 0 < len(carried.steps) < 100
    assert carried.steps[0].step_id == "step-0"
    assert len(carried.model_dump_json(exclude_none=True)) <= MAX_TRACE_BYTES
