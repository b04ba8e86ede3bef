"""The operations of the chat and their requests."""

from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.core.faults import Conflict, Forbidden
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.chat.state import ChatConversation, ChatMessage, ChatState, Content, Role
from concord_environment.modalities.fields import Id, JsonObject
from concord_environment.modalities.modality import AnyImplementation, Caller, Implementation, States
from concord_environment_client.modalities.chat import ChatCalls


class ChatAction(Action):
    """Base class of the requests of the chat."""

    modality: ClassVar[str] = "chat"


class SendChat(ChatAction):
    """Adds a message to a conversation of the chat, by default the default conversation.

    `role` defaults to `assistant`; `user` requires the permission `chat:send:user`. `content` is a text or a list of
    blocks, each with a `type`. The service generates the `message_id` by default. When a conversation exceeds
    `max_history_size`, the service deletes its oldest messages. Fails without the permission (403), or if the
    `message_id` exists (409).
    """

    operation: Literal["send_message"] = "send_message"
    role: Role | None = None
    content: Content
    conversation_id: Id | None = None
    message_id: Id | None = None
    metadata: JsonObject = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_typed_blocks(self) -> Self:
        if isinstance(self.content, list) and not all(isinstance(block.get("type"), str) for block in self.content):
            raise ValueError("every block of content requires a type")
        return self


class DeleteChatMessage(ChatAction):
    """Deletes a message from the chat. Changes nothing if the message does not exist."""

    operation: Literal["delete_message"] = "delete_message"
    message_id: Id
    conversation_id: Id | None = None


class ClearConversation(ChatAction):
    """Deletes a conversation with all its messages, by default the default conversation.

    Changes nothing if the conversation does not exist.
    """

    operation: Literal["clear_conversation"] = "clear_conversation"
    conversation_id: Id | None = None


SPEAK_AS_USER: Final = "chat:send:user"


def _bind_send(world: States, action: SendChat, caller: Caller) -> SendChat:  # noqa: ARG001
    if action.role == "user" and not caller.may(SPEAK_AS_USER):
        raise Forbidden(f"Permission denied: role 'user' requires '{SPEAK_AS_USER}'")
    return action.model_copy(update={"role": action.role or "assistant"})


def _send(world: States, action: SendChat, transaction: Transaction) -> None:
    state = world[ChatState]
    conversation_id = action.conversation_id or state.current_settings.default_conversation_id
    message_id = action.message_id or transaction.new_id()
    if message_id in state.messages:
        raise Conflict(f"message {message_id} already exists")
    role = action.role or "assistant"
    latest = state.messages.group_window("conversation", conversation_id, 0, 1, latest_first=True)
    message = ChatMessage(
        message_id=message_id,
        conversation_id=conversation_id,
        role=role,
        content=action.content,
        timestamp=transaction.now,
        metadata=action.metadata,
        sequence=latest[0].sequence + 1 if latest else 0,
    )
    existing = state.conversations.get(conversation_id)
    roles = tuple(sorted({*(existing.participant_roles if existing else ()), role}))
    created_at = existing.created_at if existing else transaction.now
    conversation = ChatConversation(conversation_id, created_at, transaction.now, roles)
    transaction.put(state.conversations, conversation_id, conversation)
    transaction.put(state.messages, message_id, message)
    _drop_oldest(state, conversation_id, transaction)


def _drop_oldest(state: ChatState, conversation_id: str, transaction: Transaction) -> None:
    excess = state.messages.group_size("conversation", conversation_id) - state.current_settings.max_history_size
    for message in state.messages.group_window("conversation", conversation_id, 0, max(0, excess)):
        transaction.drop(state.messages, message.message_id)


def _delete(world: States, action: DeleteChatMessage, transaction: Transaction) -> None:
    if transaction.named(world[ChatState].messages, action.message_id) is not None:
        transaction.drop(world[ChatState].messages, action.message_id)


def _clear(world: States, action: ClearConversation, transaction: Transaction) -> None:
    state = world[ChatState]
    conversation_id = action.conversation_id or state.current_settings.default_conversation_id
    if transaction.named(state.conversations, conversation_id) is None:
        return
    for message in list(state.messages.group("conversation", conversation_id)):
        transaction.drop(state.messages, message.message_id)
    transaction.drop(state.conversations, conversation_id)


CHAT_IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = (
    Implementation(ChatCalls.send, SendChat, _send, _bind_send),
    Implementation(ChatCalls.delete, DeleteChatMessage, _delete),
    Implementation(ChatCalls.clear, ClearConversation, _clear),
)
