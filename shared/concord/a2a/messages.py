"""A2A messages, answers and states in plain Python. No SDK type leaves this package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import uuid4

from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from pydantic import JsonValue, ValidationError

from concord.trace.step import ResponseTrace
from concord.wire.assignment import TRACEABILITY_KEY


class TaskState(StrEnum):
    """The states of an A2A task, by their names in 0.3."""

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
        """Whether the state is final."""
        return self in _TERMINAL


_TERMINAL = {TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED}


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message that an agent received; on a follow-up, `context_id` is the task's."""

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
    """One event of a stream: the task's state and its status message."""

    state: TaskState
    task_id: str
    text: str
    data: tuple[JsonValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An agent's answer, once its task ended or was interrupted.

    `text` joins the texts of the artifacts, or of the status message if there are none; in a task with neither, it is
    the agent's last message. `data_parts` come from the same place, except those of the status message, `status_data`.
    `is_task` is false if the agent answered with a message. `unread` states what could not be read of the answer.
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
    status_data: tuple[JsonValue, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the agent completed the task, or asks for input."""
        return self.state in {TaskState.COMPLETED, TaskState.INPUT_REQUIRED}

    @property
    def response_trace(self) -> ResponseTrace | None:
        """The steps that the agent sent in band, None if there are none or they are malformed."""
        if (carried := self.metadata.get(TRACEABILITY_KEY)) is None:
            return None
        try:
            return ResponseTrace.model_validate(carried)
        except ValidationError:
            return None


def text_part(text: str) -> pb.Part:
    """A text part."""
    return pb.Part(text=text)


def data_part(data: JsonValue) -> pb.Part:
    """A data part. Numbers arrive as doubles: send integers above 2^53 as strings."""
    value = ParseDict(data, Value())  # type: ignore[arg-type]  # the stub knows of objects only
    return pb.Part(data=value, media_type="application/json")


def new_message(role: "pb.Role", parts: Sequence[pb.Part]) -> pb.Message:
    """A message with a fresh id."""
    return pb.Message(message_id=uuid4().hex, role=role, parts=parts)


def texts_of(parts: Sequence[pb.Part]) -> tuple[str, ...]:
    """The texts of the text parts."""
    return tuple(part.text for part in parts if part.HasField("text"))


def data_of(parts: Sequence[pb.Part]) -> tuple[JsonValue, ...]:
    """The data of the data parts."""
    return tuple(MessageToDict(part.data) for part in parts if part.HasField("data"))
