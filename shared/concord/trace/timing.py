"""The timing of steps: the wall clock says when a step began, the monotonic clock how long it took."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypedDict

from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction, ToolInvocation
from concord.wire.roster import new_step_id


class StepTimes(TypedDict):
    """The fields of an `InteractionStep` that tell its time; `latency` in milliseconds."""

    latency: int
    start_time: datetime
    end_time: datetime


@dataclass(slots=True)
class StepClock:
    """The clock of one step, which starts when it is created."""

    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _started: float = field(default_factory=time.monotonic)
    _stopped: float | None = None

    @property
    def elapsed_s(self) -> float:
        """The time from the start until now, or until the clock was stopped (seconds)."""
        return (time.monotonic() if self._stopped is None else self._stopped) - self._started

    def stop(self) -> None:
        """Stops the clock."""
        self._stopped = time.monotonic()

    def times(self) -> StepTimes:
        """The step's times, up to now or to when the clock was stopped."""
        elapsed_s = self.elapsed_s
        return StepTimes(
            latency=round(elapsed_s * 1000),
            start_time=self.started_at,
            end_time=self.started_at + timedelta(seconds=elapsed_s),
        )


# Makes the steps of work that was timed with a step clock, for the agents and services that did the work.

MAX_QUOTED = 4000
"""Limit on the characters of a text that a step quotes."""


def call_step(
    call: AgentInvocation,
    clock: StepClock,
    *,
    step_id: str,
    trace_id: str,
    parent_step_id: str | None,
    attributes: Mapping[str, str],
) -> InteractionStep:
    """A call of an agent."""
    return InteractionStep(
        step_id=step_id,
        trace_id=trace_id,
        parent_step_id=parent_step_id,
        call_type=CallType.AGENT,
        step_action=StepAction(agent_invocation=call),
        additional_attributes=dict(attributes),
        **clock.times(),
    )


def tool_step(
    tool_name: str,
    clock: StepClock,
    *,
    trace_id: str,
    parent_step_id: str,
    error: str | None = None,
    total_tokens: int | None = None,
    attributes: Mapping[str, str] | None = None,
) -> InteractionStep:
    """The use of a tool or a model, under a new step id. `error` is cut to `MAX_QUOTED` characters."""
    return InteractionStep(
        step_id=new_step_id(),
        trace_id=trace_id,
        parent_step_id=parent_step_id,
        call_type=CallType.TOOL,
        step_action=StepAction(tool_invocation=ToolInvocation(tool_name=tool_name)),
        total_tokens=total_tokens,
        additional_attributes={**(attributes or {}), **({} if error is None else {"error": error[:MAX_QUOTED]})},
        **clock.times(),
    )


def root_step(
    work: str, clock: StepClock, *, step_id: str, trace_id: str, attributes: Mapping[str, str] | None = None
) -> InteractionStep:
    """An agent's own work that no other step contains, as a HOST step."""
    return InteractionStep(
        step_id=step_id,
        trace_id=trace_id,
        call_type=CallType.HOST,
        step_action=StepAction(tool_invocation=ToolInvocation(tool_name=work)),
        additional_attributes=dict(attributes or {}),
        **clock.times(),
    )
