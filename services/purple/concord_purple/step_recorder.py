"""The steps of an agent while it serves one message: each is reported as it ends, and all go into the answer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from concord.agent.reporter import TraceReporter
from concord.trace.step import InteractionStep, ResponseTrace, StepAction
from concord.trace.timed_steps import tool_step
from concord.trace.timing import StepClock
from concord.wire.assignment import Assignment
from concord.wire.extensions import TRACEABILITY_KEY

MAX_TRACE_BYTES: Final = 256 * 1024
"""Limit of an in-band trace (JSON). A longer trace loses the nested steps of peers first, then its latest steps."""

MAX_TRACE_DEPTH: Final = 4
"""Levels of nested traces in an in-band trace: protobuf refuses JSON that is nested a hundred deep."""


class StepRecorder:
    """Records the steps taken for one message. Without an assignment, it records none."""

    def __init__(self, assignment: Assignment | None, reporter: TraceReporter) -> None:
        self._assignment = assignment
        self._reporter = reporter
        self._steps: list[InteractionStep] = []

    def add(self, step: InteractionStep, assignment: Assignment) -> None:
        """Records a step and reports it without its nested steps, which the callee itself reports."""
        self._steps.append(step)
        self._reporter.report(_truncated(step, 0), assignment)

    @contextmanager
    def tool(self, name: str) -> Iterator[None]:
        """Times a piece of the agent's own work and records it as a TOOL step under the call that the agent serves."""
        clock = StepClock()
        error: str | None = None
        try:
            yield
        except Exception as fault:
            error = f"{type(fault).__name__}: {fault}"
            raise
        finally:
            if (served := self._assignment) is not None:
                step = tool_step(name, clock, trace_id=served.trace_id, parent_step_id=served.step_id, error=error)
                self.add(step, served)

    def metadata(self) -> dict[str, Any]:
        """The trace as metadata of the answer; empty without an assignment."""
        if self._assignment is None:
            return {}
        steps = [_truncated(step, MAX_TRACE_DEPTH) for step in self._steps]
        if _size(steps) > MAX_TRACE_BYTES:
            steps = [_truncated(step, 0) for step in steps]
        while _size(steps) > MAX_TRACE_BYTES:
            steps = steps[: len(steps) // 2]
        return {
            TRACEABILITY_KEY: {
                "trace_id": self._assignment.trace_id,
                "steps": [step.spec_form() for step in steps],
            }
        }


def _truncated(step: InteractionStep, depth: int) -> InteractionStep:
    """The step with at most `depth` levels of nested traces."""
    call = step.agent_call
    if call is None or call.response_trace is None:
        return step
    trace = call.response_trace if depth else None
    if trace is not None:
        trace = ResponseTrace(trace_id=trace.trace_id, steps=[_truncated(inner, depth - 1) for inner in trace.steps])
    action = StepAction(agent_invocation=call.model_copy(update={"response_trace": trace}))
    return step.model_copy(update={"step_action": action})


def _size(steps: list[InteractionStep]) -> int:
    return sum(len(json.dumps(step.spec_form())) for step in steps)
