"""Logs of group chats in the form of Who&When: each document is one run, with its question and its chat history.

Source of the form: github.com/ag2ai/Agents_Failure_Attribution. In `Who&When/Algorithm-Generated` the agents talk in a
group chat of AG2, and AG2's code executor speaks for a terminal. In `Who&When/Hand-Crafted` they are Magentic-One's,
whose orchestrator says in each role to whom it speaks, or that it only thinks.

The documents also contain opinions of people on the cause of the failure (`mistake_agent`, `mistake_step`,
`mistake_reason`) and the expected answer. This reader does not read them: no evaluation may depend on them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from concord.trace.attributes import EDGE_KIND, RESPONSE_TEXT, EdgeKind
from concord.trace.step import (
    MAX_VALUE_LENGTH,
    AgentInvocation,
    CallType,
    InteractionStep,
    StepAction,
    ToolInvocation,
)
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, file_trace_id, shortened_id

_EXECUTED: Final = re.compile(r"exitcode: (-?\d+) \(.*\)")
"""The first line of AG2's code executor (`ConversableAgent.generate_code_execution_reply`)."""

_CODE: Final = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
_ROLE: Final = re.compile(r"(.+?)(?: \((.*)\))?", re.DOTALL)
_TO: Final = "->"
_HUMAN: Final = "human"
"""The role of the person who asks the team in Magentic-One."""

_END: Final = "TERMINATE"
"""The word by which AG2 ends a chat. It says nothing about the task."""

_WARNINGS: Final = (
    "the log does not tell whom a message was for: every member of the group chat hears every message",
    "the log has no times: the order is that of its messages, and latencies are unknown",
)


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = ""
    role: str = ""
    content: str = ""

    @model_validator(mode="after")
    def _named(self) -> "_Message":
        if not self.speaker:
            raise ValueError("neither `name` nor `role`")
        return self

    @property
    def speaker(self) -> str:
        return self.name or self._parts[0]

    @property
    def addressee(self) -> str | None:
        """The agent that a message is for; "" for nobody, None if it does not say."""
        said = self._parts[1]
        if self.name or said is None:
            return None
        return said.removeprefix(_TO).strip() if said.startswith(_TO) else ""

    @property
    def _parts(self) -> tuple[str, str | None]:
        found = _ROLE.fullmatch(self.role)
        return (found[1], found[2]) if found else (self.role, None)


class _Run(BaseModel):
    """A run without its labels. `system_prompt`: by agent, its instructions."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str
    question_id: str = Field(alias="question_ID", default="")
    is_correct: bool | None = None
    is_corrected: bool | None = None
    history: list[_Message] = Field(min_length=1)
    system_prompt: dict[str, JsonValue] = {}

    @property
    def executors(self) -> frozenset[str]:
        """The speakers that only report what code printed: no agent has instructions for that part."""
        reporting = {each.speaker for each in self.history if _EXECUTED.match(each.content)}
        return frozenset((reporting | {_HUMAN}) - self.system_prompt.keys())


def _recognises(head: Head) -> bool:
    return "question" in head.json_keys and ("is_correct" in head.json_keys or b'"mistake_agent"' in head.data)


def _read(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        with source.record(line):
            run = _Run.model_validate(value)
            name = shortened_id(run.question_id) if run.question_id else file_trace_id(source.name, number)
            builder = TraceBuilder(name, Origin(source.name, line))
            _take(builder, run)
            yield builder.build()


def _take(builder: TraceBuilder, run: _Run) -> None:
    executors = run.executors
    members = list(dict.fromkeys([*run.system_prompt, *(each.speaker for each in run.history)]))
    agents = [name for name in members if name not in executors]
    for agent in agents:
        builder.declare(agent)
    for warning in _WARNINGS if all(each.addressee is None for each in run.history) else _WARNINGS[1:]:
        builder.warn(warning)
    builder.task = run.question
    builder.answer = _answer(run.history, executors)
    correct = run.is_corrected if run.is_correct is None else run.is_correct
    builder.task_success = None if correct is None else float(correct)
    asked = _Message(name=agents[0]) if agents else None
    for number, message in enumerate(run.history):
        if message.speaker == _HUMAN:
            continue
        if message.speaker not in executors:
            to = message.addressee
            others = [agent for agent in agents if agent != message.speaker]
            _say(builder, step_id(number), message, others if to is None else [to] if to in others else [])
            asked = message
        elif asked is not None:
            _execute(builder, step_id(number), asked, message)


def step_id(number: int) -> str:
    """The id of the step for the message with this index in the history, from 0."""
    return f"{number:04}"


def _answer(history: Sequence[_Message], executors: frozenset[str]) -> str:
    """The last thing that an agent said, without the word that ends the chat; "" if none said more."""
    said = (each.content.replace(_END, "").strip() for each in reversed(history) if each.speaker not in executors)
    return next((text for text in said if text), "")


def _say(builder: TraceBuilder, name: str, message: _Message, hearers: Sequence[str]) -> None:
    """Adds what an agent said as its own work, and a call to each member that heard it."""
    builder.add(
        _step(builder, name, CallType.HOST, {RESPONSE_TEXT: message.content[:MAX_VALUE_LENGTH]}), message.speaker
    )
    kind = EdgeKind.CONVERSATION if message.addressee is None else EdgeKind.DELEGATION
    for number, hearer in enumerate(hearers, 1):
        step = _step(builder, f"{name}-{number}", CallType.AGENT, {EDGE_KIND: kind})
        heard = StepAction(agent_invocation=AgentInvocation(agent_name=hearer))
        builder.add(step.model_copy(update={"step_action": heard}), message.speaker)


def _execute(builder: TraceBuilder, name: str, asked: _Message, answer: _Message) -> None:
    """Adds the use of a tool by the agent that spoke last. An exit code other than 0 is its error."""
    found = _EXECUTED.match(answer.content)
    code = "\n".join(_CODE.findall(asked.content))[:MAX_VALUE_LENGTH]
    use = ToolInvocation(tool_name=answer.speaker, parameters={"code": code} if code else None)
    step = _step(builder, name, CallType.TOOL, {RESPONSE_TEXT: answer.content[:MAX_VALUE_LENGTH]})
    error = found[0] if found is not None and int(found[1]) != 0 else None
    builder.add(step.model_copy(update={"step_action": StepAction(tool_invocation=use), "error": error}), asked.speaker)


def _step(builder: TraceBuilder, name: str, kind: CallType, attributes: Mapping[str, str]) -> InteractionStep:
    return InteractionStep(
        step_id=name, trace_id=builder.trace_id, call_type=kind, additional_attributes=dict(attributes)
    )


FORMAT = TraceFormat(_recognises, _read)
