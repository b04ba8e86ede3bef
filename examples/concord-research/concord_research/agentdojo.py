"""Logs of AgentDojo: each document is one task, with the messages of one assistant and its tools.

Source of the form: `agentdojo.logging.TraceLogger` and `agentdojo.types` of the package agentdojo 0.1.35.
"""

import re
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic_core import to_json

from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.effects import Effect, EffectKind, content_digest
from concord.trace.step import MAX_VALUE_LENGTH, CallType, InteractionStep, StepAction, ToolInvocation
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, shortened_id

ASSISTANT: Final = "assistant"
"""The id of the one agent. The log names a pipeline, which is no agent."""

_READING: Final = re.compile(r"(?:check|compute|download|get|list|read|search|standardize)_")
"""Tools that change nothing, by the beginning of their names. All others have an effect."""

_DELIVERING: Final = re.compile(r"(?:send|post|create|reserve|schedule|share|invite|add)_")

_WARNINGS: Final = ("the log has no times: the order is that of its messages, and latencies are unknown",)


class _LogModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Block(_LogModel):
    content: str | None = None


class _Call(_LogModel):
    function: str
    args: dict[str, JsonValue] = {}


class _Message(_LogModel):
    role: str
    content: str | list[_Block] | None = None
    tool_call: _Call | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        """The text of all blocks; older versions wrote it as it is."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(block.content for block in self.content if block.content is not None)


class _Run(_LogModel):
    """`utility`: whether the user's task was done; null where the run ended with an error."""

    suite_name: str
    pipeline_name: str = ""
    user_task_id: str
    injection_task_id: str | None = None
    attack_type: str | None = None
    messages: list[_Message]
    utility: bool | None = None
    error: str | None = None

    @property
    def name(self) -> str:
        parts = (self.pipeline_name, self.suite_name, self.user_task_id, self.attack_type, self.injection_task_id)
        return "/".join(part for part in parts if part)


def _recognises(head: Head) -> bool:
    return head.json_keys >= {"suite_name", "pipeline_name", "user_task_id"}


def _read(source: Source) -> Iterator[Trace]:
    for _, line, value in source.json_records():
        with source.record(line):
            run = _Run.model_validate(value)
            builder = TraceBuilder(shortened_id(run.name), Origin(source.name, line))
            _take(builder, run)
            yield builder.build()


def _take(builder: TraceBuilder, run: _Run) -> None:
    builder.declare(ASSISTANT)
    for warning in _WARNINGS:
        builder.warn(warning)
    if run.error is not None:
        builder.warn(f"the outcome is unknown, because the run ended with an error: {run.error}")
    elif run.utility is not None:
        builder.task_success = float(run.utility)
    builder.task = next((each.text for each in run.messages if each.role == "user"), "")
    said = (each.text for each in reversed(run.messages) if each.role == ASSISTANT)
    builder.answer = next(filter(None, said), "")
    for number, message in enumerate(run.messages):
        if message.role == "tool" and message.tool_call is not None:
            builder.add(_use(builder.trace_id, number, message, message.tool_call), ASSISTANT)
        elif message.role == ASSISTANT and message.text:
            builder.add_work(f"{number:04}", ASSISTANT, attributes={RESPONSE_TEXT: message.text[:MAX_VALUE_LENGTH]})


def _use(trace_id: str, number: int, message: _Message, call: _Call) -> InteractionStep:
    """The use of a tool with its result, its error, and its effect if it changed anything."""
    effect = _effect(call) if message.error is None else None
    return InteractionStep(
        step_id=f"{number:04}",
        trace_id=trace_id,
        call_type=CallType.TOOL,
        step_action=StepAction(tool_invocation=ToolInvocation(tool_name=call.function, parameters=call.args)),
        additional_attributes={
            RESPONSE_TEXT: message.text[:MAX_VALUE_LENGTH],
            **({} if effect is None else effect.attributes()),
        },
        error=message.error,
    )


def _effect(call: _Call) -> Effect | None:
    if _READING.match(call.function):
        return None
    kind = EffectKind.DELIVERED if _DELIVERING.match(call.function) else EffectKind.EDITED
    written = to_json({name: call.args[name] for name in sorted(call.args)}).decode()
    return Effect(kind, call.function, digest=content_digest(f"{call.function}{written}"), excerpt=written)


FORMAT = TraceFormat(_recognises, _read)
