"""The rows of a chat."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from concord_environment.modalities.fields import Id, JsonObject, Moment, Text

Role = Literal["user", "assistant"]
Block = JsonObject
"""A part of a message with more than text: its `type` says what it is."""
Content = Text | Annotated[list[Block], Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message. `sequence` keeps messages of one moment apart."""

    message_id: Id
    conversation_id: Id
    role: Role
    content: Content
    timestamp: Moment
    metadata: JsonObject = field(default_factory=dict)
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class ChatConversation:
    """What is kept of a conversation beside its messages."""

    conversation_id: Id
    created_at: Moment
    last_message_at: Moment
    participant_roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How much is kept, and which conversation is meant when none is named."""

    max_history_size: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    default_conversation_id: Id = "default"


def text_of(content: Content) -> str:
    """The words of a message."""
    if isinstance(content, str):
        return content
    return "\n".join(text for block in content if isinstance(text := block.get("text"), str))
