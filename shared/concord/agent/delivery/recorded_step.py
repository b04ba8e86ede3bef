"""Steps by their fields, which the delivery thread makes into `InteractionStep`s, so that the agent need not wait."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from pydantic_core import from_json, to_json

from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction, ToolInvocation
from concord.wire.assignment import Assignment
from concord.wire.ids import new_step_id

_UNWRITABLE = b""


class RecordedStep(NamedTuple):
    """The fields of a step as the agent gave them, unchecked. `content` is JSON, see `frozen`."""

    call_type: CallType
    name: str
    content: bytes | None
    agent_url: str
    step_id: str | None
    parent_step_id: str | None
    error: str | None
    attributes: dict[str, str] | None
    total_tokens: int | None
    cost: int | None
    start_time: datetime | None
    end_time: datetime | None

    def step(self, assignment: Assignment) -> InteractionStep:
        """The step, made under the assignment. Raises ValueError for fields that a step cannot have."""
        content = None if self.content is None else from_json(self.content)
        action: StepAction | None
        if self.call_type == CallType.AGENT:
            call = AgentInvocation(agent_url=self.agent_url, agent_name=self.name, requests=content)
            action = StepAction(agent_invocation=call)
        elif self.call_type == CallType.HOST and not self.name and content is None:
            action = None
        else:
            action = StepAction(tool_invocation=ToolInvocation(tool_name=self.name, parameters=content))
        attributes = self.attributes or {}
        return InteractionStep(
            step_id=self.step_id or new_step_id(),
            trace_id=assignment.trace_id,
            parent_step_id=self.parent_step_id or assignment.step_id,
            call_type=self.call_type,
            step_action=action,
            cost=self.cost,
            total_tokens=self.total_tokens,
            additional_attributes=attributes if self.error is None else {**attributes, "error": self.error},
            start_time=self.start_time,
            end_time=self.end_time,
        )


def frozen(content: Mapping[str, object] | None) -> bytes | None:
    """The content of a step as JSON, so that the agent may go on changing it. Never raises."""
    if content is None:
        return None
    try:
        return to_json(content, inf_nan_mode="constants")
    except ValueError:
        return _UNWRITABLE
