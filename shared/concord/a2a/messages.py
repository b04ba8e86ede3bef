"""What A2A carries, in plain Python: messages that come in, answers that come back. No SDK type leaves this package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import uuid4

from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct, Value
from pydantic import JsonValue, ValidationError

from concord.agent.extensions import TRACEABILITY_KEY
from concord.trace.step import ResponseTrace


class TaskState(StrEnum):
    """The states of an A2A task, by the names that 0.3 puts on the wire."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input-required"
    AUTH_REQUIRED = "auth-required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"
    UNKNOWN = "unknown"

    @property
    def terminal(self) -> bool:
        """Whether a task in this state will not change any more."""
        return self in _TERMINAL


_TERMINAL = {TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED}


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message that an agent was sent; `context_id` is the task's own on a follow-up."""

    text: str
    text_parts: tuple[str, ...]
    data_parts: tuple[JsonValue, ...]
    other_parts: int
    metadata: Mapping[str, Any]
    message_id: str
    task_id: str
    context_id: str
    follow_up: bool


@dataclass(frozen=True, slots=True)
class TaskUpdate:
    """One event of a stream: the state and what was said with it."""

    state: TaskState
    task_id: str
    text: str
    data: tuple[JsonValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered with, once its task ended or asked for more.

    `text` joins the text of artifacts, or of the status message where there is none. `is_task` is false where the
    agent answered with a bare message.
    """

    state: TaskState
    text: str
    status_text: str
    text_parts: tuple[str, ...]
    data_parts: tuple[JsonValue, ...]
    artifacts: int
    is_task: bool
    task_id: str
    context_id: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the agent did what it was asked, or asks for input to go on."""
        return self.state in {TaskState.COMPLETED, TaskState.INPUT_REQUIRED}

    @property
    def response_trace(self) -> ResponseTrace | None:
        """The steps that the agent sent along in band; None where there are none or they cannot be read."""
        if (carried := self.metadata.get(TRACEABILITY_KEY)) is None:
            return None
        try:
            return ResponseTrace.model_validate(carried)
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class CardSummary:
    """What an agent says of itself in its card."""

    name: str
    urls: tuple[str, ...]
    skill_ids: tuple[str, ...]
    streaming: bool
    extensions: tuple[str, ...]


def state_of(state: "pb.TaskState") -> TaskState:
    """The state behind the SDK's enumeration."""
    name = pb.TaskState.Name(state).removeprefix("TASK_STATE_").lower().replace("_", "-")
    return TaskState(name) if name in set(TaskState) else TaskState.UNKNOWN


def text_part(text: str) -> pb.Part:
    """A text part."""
    return pb.Part(text=text)


def data_part(data: JsonValue) -> pb.Part:
    """A data part. Its numbers arrive as doubles: what must keep 64 bits travels as a string."""
    value: Value = ParseDict(data, Value())  # type: ignore[arg-type]  # the stub knows of objects only
    return pb.Part(data=value, media_type="application/json")


def new_message(
    role: "pb.Role",
    parts: Sequence[pb.Part],
    *,
    metadata: Mapping[str, Any] | None = None,
    extensions: Sequence[str] = (),
    task_id: str = "",
    context_id: str = "",
) -> pb.Message:
    """A message with a fresh id."""
    return pb.Message(
        message_id=uuid4().hex,
        role=role,
        parts=parts,
        metadata=to_struct(metadata),
        extensions=extensions,
        task_id=task_id,
        context_id=context_id,
    )


def to_struct(mapping: Mapping[str, Any] | None) -> Struct | None:
    """JSON metadata as protobuf has it; None stays None."""
    return None if mapping is None else ParseDict(dict(mapping), Struct())


def from_struct(struct: Struct) -> dict[str, Any]:
    """Protobuf metadata as JSON."""
    written: dict[str, Any] = MessageToDict(struct)
    return written


def texts_of(parts: Sequence[pb.Part]) -> tuple[str, ...]:
    """The text parts' texts."""
    return tuple(part.text for part in parts if part.HasField("text"))


def data_of(parts: Sequence[pb.Part]) -> tuple[JsonValue, ...]:
    """The data parts' data."""
    return tuple(MessageToDict(part.data) for part in parts if part.HasField("data"))
