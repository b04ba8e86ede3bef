"""The steps of spans: work of agents, calls between agents, and messages that the members of a conversation hear."""

from typing import Final

from msgspec.structs import replace as changed

from concord.trace.attributes import (
    CONTEXT,
    EDGE_KIND,
    EDGE_KNOWN_BY,
    EDGE_SUPPORT,
    ERROR_TYPE,
    EXCEPTION,
    FINISH_REASON,
    MODEL_INPUT,
    RESPONSE_TEXT,
    SPAN_NAME,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
    EdgeKind,
    KnownBy,
    Support,
)
from concord.trace.otlp import Act, Span, TeamReading, genai, is_control_flow, step_of, to_step
from concord.trace.otlp.content import UNKNOWN, Content
from concord.trace.step import MAX_NAME_LENGTH, MAX_VALUE_LENGTH, CallType
from concord.trace.stored_step import CalledAgent, Invocation, Json, Step, UsedTool
from concord.wire.roster import UNKNOWN_AGENT
from concord_evaluator.formats.activations import Activation, Edge, agent_id

_OPERATION: Final = genai.GENAI_OPERATION[0]
_PREPARING: Final = "prepare"
"""The operation of a span that has the kind of a model's call, and only prepares one."""
_OPERATIONS: Final = {Act.TOOL: "execute_tool", Act.MODEL: "chat"}


def as_read(span: Span, reading: TeamReading) -> Span:
    """The span with the outcome that its mapping read from it, and as the use of a tool or a model if that says so.

    Control flow is no failure.
    """
    read = reading.spans.get(span.span_id)
    failed = (span.failed if read is None else read.failed) and not is_control_flow(span)
    told = span if failed == span.failed else changed(span, failed=failed)
    if read is None:
        return told
    operation = _OPERATIONS.get(read.act)
    known = genai.TOOL_OPERATIONS if read.act is Act.TOOL else genai.MODEL_OPERATIONS
    if read.act is Act.WORK and told.operation in genai.MODEL_OPERATIONS:
        return changed(told, attributes={**told.attributes, _OPERATION: _PREPARING})
    if operation is None or told.operation in known:
        return told
    return changed(told, attributes={**told.attributes, _OPERATION: operation})


def steps_of(span: Span, activation: Activation | None, said: Content) -> list[tuple[str, Step]]:
    """The steps of a span, whose ids are checked, each with its reporter: a call by each agent that asked, otherwise
    work or a tool's use. Raises SpanError.

    `said`: the content of the span or, of the first span of an agent's work, of all of that work.
    """
    step = step_of(span)
    if activation is None:
        return [(UNKNOWN_AGENT, _with_texts(work_step(step), said))]
    head = activation.head.span_id == span.span_id
    causes = [cause for cause in activation.causes if cause.by.agent != activation.agent] if head else ()
    if not causes:
        return [(activation.agent, _with_texts(work_step(step), said))]
    calls = [call_step(step, activation.agent, cause.kind, f"-{n}" if n else "") for n, cause in enumerate(causes)]
    return [
        (cause.by.agent, _with_texts(known_step(call, cause.known_by, cause.support), said))
        for cause, call in zip(causes, calls, strict=True)
    ]


def _with_texts(step: Step, said: Content) -> Step:
    """Adds what was said in it to a step, and returns it. A tool whose result states an error has failed."""
    action, attributes = step.step_action, step.additional_attributes
    is_model = attributes.get(_OPERATION) in genai.MODEL_OPERATIONS
    is_use = step.kind is CallType.TOOL
    if action is not None and (use := action.tool_invocation) is not None and is_use:
        asked = _asked(step, MODEL_INPUT if is_model else TOOL_ARGUMENTS, said)
        step.step_action = Invocation(UsedTool(use.tool_name, asked))
    elif action is not None and (call := action.agent_invocation) is not None:
        step.step_action = Invocation(None, CalledAgent(call.agent_url, call.agent_name, _asked(step, "text", said)))
    is_tool = is_use and not is_model
    if said.output:
        attributes[TOOL_RESULT if is_tool else RESPONSE_TEXT] = said.output[:MAX_VALUE_LENGTH]
    if said.finish and is_model:
        attributes[FINISH_REASON] = said.finish[:MAX_VALUE_LENGTH]
    if said.error and is_tool and "error" not in attributes:
        attributes["error"] = said.error[:MAX_VALUE_LENGTH]
    return step


def with_thrown(step: Step, span: Span, read: Span) -> Step:
    """The step of a span with its name, if nothing else names it, and with an exception that was caught in it.

    `read`: the span as its mapping read it.
    """
    noted = {SPAN_NAME: span.name[:MAX_NAME_LENGTH]} if span.name and step.step_action is None else {}
    if not span.failed and not read.failed and span.text(genai.EXCEPTION) and not is_control_flow(span):
        kind = span.text(genai.THROWN_TYPE)
        noted |= {EXCEPTION: span.text(genai.EXCEPTION)[:MAX_VALUE_LENGTH], ERROR_TYPE: kind[:MAX_VALUE_LENGTH]}
    return changed(step, additional_attributes=step.additional_attributes | noted) if noted else step


def _asked(step: Step, name: str, said: Content) -> dict[str, Json] | None:
    """What was asked, under a name, with the number for the messages before it. Unknown messages equal no others."""
    if not said.input:
        return None
    if not said.before:
        return {name: said.input}
    return {name: said.input, CONTEXT: int(step.step_id[:12], 16) if said.before == UNKNOWN else said.before}


def work_step(step: Step) -> Step:
    """The step as work of an agent or the use of a tool, not as a call."""
    if step.kind is CallType.AGENT:
        return changed(step, call_type=CallType.HOST, step_action=None)
    return step


def call_step(step: Step, callee: str, kind: EdgeKind, suffix: str = "", url: str = "") -> Step:
    """The step as a call of an agent, at `url` if known. `suffix`: of the ids of further calls by the same span."""
    call = step.agent_call
    action = Invocation(agent_invocation=CalledAgent(url, callee, None if call is None else call.requests))
    attributes = {name: value for name, value in step.additional_attributes.items() if name != "call_type"}
    if kind is not EdgeKind.DELEGATION:
        attributes[EDGE_KIND] = kind.value
    return changed(
        step,
        call_type=CallType.AGENT,
        step_action=action,
        additional_attributes=attributes,
        step_id=step.step_id + suffix,
    )


def known_step(call: Step, known_by: KnownBy, support: Support) -> Step:
    """The call with what tells it and what a second source says."""
    attributes = {**call.additional_attributes, EDGE_KNOWN_BY: known_by.value, EDGE_SUPPORT: support.value}
    return changed(call, additional_attributes=attributes)


def message_step(edge: Edge, said: str = "") -> Step:
    """A message of a conversation, at the end of its speaker's work, as one of its members heard it."""
    step = to_step(changed(edge.head, start_ns=edge.head.end_ns, failed=False, attributes={}))
    call = call_step(step, edge.callee, EdgeKind.CONVERSATION, f"-{agent_id(edge.callee)[:40]}")
    message = known_step(call, edge.known_by, edge.support)
    return _with_texts(message, Content(input=said, before=UNKNOWN if said else 0))
