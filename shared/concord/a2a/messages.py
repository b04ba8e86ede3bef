"""A2A messages, answers and states in plain Python. No SDK type leaves this package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any, Final
from uuid import uuid4

from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import ParseError
from google.protobuf.struct_pb2 import Struct, Value
from pydantic import JsonValue, ValidationError

from concord.trace.step import ResponseTrace
from concord.wire.assignment import TRACEABILITY_KEY

# JSON as protobuf's `Struct` and `Value`, and back, in a third of the time of `google.protobuf.json_format`.
#
# That looks up descriptors for each value, and a row has thousands of them for each trial.

MAX_DEPTH: Final = 49
"""Levels of JSON below each other: as many objects as `ParseDict` takes."""


def value_of(data: JsonValue) -> Value:
    """JSON as a `Value`. Raises ParseError, as `ParseDict` does, for what is no JSON or too deep."""
    value = Value()
    _fill(value, data, MAX_DEPTH)
    return value


def struct_of(mapping: Mapping[str, JsonValue]) -> Struct:
    """A JSON object as a `Struct`. Raises ParseError, as `value_of` does."""
    struct = Struct()
    for name, each in mapping.items():
        _fill(struct.fields[name], each, MAX_DEPTH - 1)
    return struct


def json_of(message: Struct | Value) -> JsonValue:
    """The JSON of a message; its numbers are floats. Raises ValueError, as `MessageToDict` does, for one that is not
    finite."""
    return object_of(message) if isinstance(message, Struct) else _json(message)


def object_of(struct: Struct) -> dict[str, JsonValue]:
    """The JSON object of a `Struct`. Raises ValueError, as `json_of` does."""
    return {name: _json(each) for name, each in struct.fields.items()}


def _fill(value: Value, data: JsonValue, depth: int) -> None:
    if isinstance(data, str):
        value.string_value = data
    elif data is None:
        value.null_value = 0  # type: ignore[assignment]  # the enumeration's only value
    elif isinstance(data, bool):
        value.bool_value = data
    elif isinstance(data, int | float):
        value.number_value = data
    elif depth == 0:
        raise ParseError(f"the JSON is deeper than {MAX_DEPTH} levels")
    elif isinstance(data, dict):
        value.struct_value.SetInParent()  # an empty one as well
        fields = value.struct_value.fields
        for name, each in data.items():
            _fill(fields[name], each, depth - 1)
    elif isinstance(data, list | tuple):
        value.list_value.SetInParent()
        add = value.list_value.values.add
        for each in data:
            _fill(add(), each, depth - 1)
    else:
        raise ParseError(f"{type(data).__name__} is no JSON")


def _json(value: Value) -> JsonValue:
    match value.WhichOneof("kind"):
        case "string_value":
            return value.string_value
        case "number_value":
            return _finite(value.number_value)
        case "struct_value":
            return object_of(value.struct_value)
        case "list_value":
            return [_json(each) for each in value.list_value.values]
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _finite(number: float) -> float:
    if not isfinite(number):
        raise ValueError(f"{number} is no JSON")
    return number


# Messages, answers and states.


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
    return pb.Part(data=value_of(data), media_type="application/json")


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
    """JSON metadata as protobuf; None stays None."""
    return None if mapping is None else struct_of(mapping)


def texts_of(parts: Sequence[pb.Part]) -> tuple[str, ...]:
    """The texts of the text parts."""
    return tuple(part.text for part in parts if part.HasField("text"))


def data_of(parts: Sequence[pb.Part]) -> tuple[JsonValue, ...]:
    """The data of the data parts."""
    return tuple(json_of(part.data) for part in parts if part.HasField("data"))
