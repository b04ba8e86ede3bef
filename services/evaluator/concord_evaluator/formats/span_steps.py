"""The steps of spans: work of agents, calls between agents, and messages that the members of a conversation hear."""

from collections.abc import Iterator
from dataclasses import replace

from concord.trace.attributes import EDGE_KIND, EdgeKind
from concord.trace.otlp import Span, TeamReading, to_step
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.wire.roster import UNKNOWN_AGENT
from concord_evaluator.formats.activations import Activation, agent_id


def as_read(span: Span, reading: TeamReading) -> Span:
    """The span with the outcome that its mapping read from it."""
    read = reading.spans.get(span.span_id)
    return span if read is None or read.failed == span.failed else replace(span, failed=read.failed)


def steps_of(span: Span, activation: Activation | None) -> Iterator[tuple[str, InteractionStep]]:
    """The steps of a span, each with its reporter: a call by each agent that asked, otherwise work or a tool's use."""
    step = to_step(span)
    if activation is None:
        yield UNKNOWN_AGENT, work_step(step)
        return
    head = activation.head.span_id == span.span_id
    asked_by = [(caller.agent, kind) for caller, kind in activation.asked_by if caller.agent != activation.agent]
    if not head or not asked_by:
        yield activation.agent, work_step(step)
        return
    for number, (caller, kind) in enumerate(asked_by):
        yield caller, call_step(step, activation.agent, kind, f"-{number}" if number else "")


def work_step(step: InteractionStep) -> InteractionStep:
    """The step as work of an agent or the use of a tool, not as a call."""
    if step.kind is CallType.AGENT:
        return step.model_copy(update={"call_type": CallType.HOST, "step_action": None})
    return step


def call_step(step: InteractionStep, callee: str, kind: EdgeKind, suffix: str = "", url: str = "") -> InteractionStep:
    """The step as a call of an agent, at `url` if known. `suffix`: of the ids of further calls by the same span."""
    call = step.agent_call or AgentInvocation()
    action = StepAction(agent_invocation=call.model_copy(update={"agent_name": callee, "agent_url": url}))
    attributes = {name: value for name, value in step.additional_attributes.items() if name != "call_type"}
    if kind is not EdgeKind.DELEGATION:
        attributes[EDGE_KIND] = kind
    changes = {"call_type": CallType.AGENT, "step_action": action, "additional_attributes": attributes}
    return step.model_copy(update={**changes, "step_id": step.step_id + suffix})


def message_step(head: Span, heard_by: str) -> InteractionStep:
    """A message of a conversation, at the end of its speaker's work, as one of its members heard it."""
    step = to_step(replace(head, start_ns=head.end_ns, failed=False, attributes={}))
    return call_step(step, heard_by, EdgeKind.CONVERSATION, f"-{agent_id(heard_by)[:40]}")
