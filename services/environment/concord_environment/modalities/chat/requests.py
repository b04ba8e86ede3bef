"""What can be done in the chat, as it is asked for."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.modalities.chat.records import Content, Role
from concord_environment.modalities.fields import Id, JsonObject


class ChatAction(Action):
    """Anything done in the chat."""

    modality: ClassVar[str] = "chat"


class SendChat(ChatAction):
    """Says something. The role `user` is the proctor's; an agent is the assistant, which goes without saying."""

    operation: Literal["send_message"] = "send_message"
    role: Role | None = None
    content: Content
    conversation_id: Id | None = None
    message_id: Id | None = None
    metadata: JsonObject = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_typed_blocks(self) -> Self:
        if isinstance(self.content, list) and not all(isinstance(block.get("type"), str) for block in self.content):
            raise ValueError("every block of content needs a type")
        return self


class DeleteChatMessage(ChatAction):
    """Takes a message out of the history."""

    operation: Literal["delete_message"] = "delete_message"
    message_id: Id
    conversation_id: Id | None = None


class ClearConversation(ChatAction):
    """Takes every message of a conversation out of the history."""

    operation: Literal["clear_conversation"] = "clear_conversation"
    conversation_id: Id | None = None
