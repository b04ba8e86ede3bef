"""The rows and tables of the chat."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from concord_environment.core.clock import to_us
from concord_environment.core.order import SortKey
from concord_environment.core.tables import Table
from concord_environment.modalities.fields import Id, JsonObject, Moment, Text
from concord_environment.modalities.modality import ONLY_KEY

Role = Literal["user", "assistant"]
Block = JsonObject
"""A part of a multimodal message. `type` gives its kind."""
Content = Text | Annotated[list[Block], Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A chat message. `sequence` orders the messages of one moment."""

    message_id: Id
    conversation_id: Id
    role: Role
    content: Content
    timestamp: Moment
    metadata: JsonObject = field(default_factory=dict)
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class ChatConversation:
    """A chat conversation without its messages."""

    conversation_id: Id
    created_at: Moment
    last_message_at: Moment
    participant_roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The maximum number of messages in a conversation, and the default conversation of requests."""

    max_history_size: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    default_conversation_id: Id = "default"


def text_of(content: Content) -> str:
    """The text of a message: of a list of blocks, the texts, one in each line."""
    if isinstance(content, str):
        return content
    return "\n".join(text for block in content if isinstance(text := block.get("text"), str))


def _sort_key(message: ChatMessage) -> SortKey:
    return to_us(message.timestamp), message.sequence


class ChatState:
    """Messages in the order of time, indexed by conversation."""

    def __init__(self) -> None:
        self.messages: Table[ChatMessage] = Table(
            "chat.messages",
            ChatMessage,
            order=_sort_key,
            indexes={"conversation": lambda message: (message.conversation_id,)},
        )
        self.conversations: Table[ChatConversation] = Table("chat.conversations", ChatConversation)
        self.settings: Table[ChatSettings] = Table("chat.settings", ChatSettings)

    @property
    def tables(self) -> tuple[Table[ChatMessage], Table[ChatConversation], Table[ChatSettings]]:
        """The tables."""
        return self.messages, self.conversations, self.settings

    @property
    def current_settings(self) -> ChatSettings:
        """The current settings."""
        return self.settings.get(ONLY_KEY) or ChatSettings()
