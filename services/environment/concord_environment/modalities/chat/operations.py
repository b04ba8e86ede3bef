"""The chat's operations and their requests."""

from dataclasses import replace
from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.core.faults import Conflict, Forbidden, NotFound
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.chat.state import ChatConversation, ChatMessage, ChatState, Content, Role
from concord_environment.modalities.fields import Id, JsonObject
from concord_environment.modalities.modality import AnyOperation, Caller, Operation, States


class ChatAction(Action):
    """Base class of the chat's requests."""

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
        raise Conflict(f"a message {message_id} is there already")
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
    transaction.put(state.messages, message_id, message)
    known = state.conversations.get(conversation_id)
    roles = tuple(sorted({*(known.participant_roles if known else ()), role}))
    created_at = known.created_at if known else transaction.now
    conversation = ChatConversation(conversation_id, created_at, transaction.now, roles)
    transaction.put(state.conversations, conversation_id, conversation)
    _forget_oldest(state, conversation_id, transaction)


def _forget_oldest(state: ChatState, conversation_id: str, transaction: Transaction) -> None:
    excess = state.messages.group_size("conversation", conversation_id) - state.current_settings.max_history_size
    for message in state.messages.group_window("conversation", conversation_id, 0, max(0, excess)):
        transaction.drop(state.messages, message.message_id)


def _delete(world: States, action: DeleteChatMessage, transaction: Transaction) -> None:
    if action.message_id not in world[ChatState].messages:
        raise NotFound(f"there is no message {action.message_id}")
    transaction.drop(world[ChatState].messages, action.message_id)


def _clear(world: States, action: ClearConversation, transaction: Transaction) -> None:
    state = world[ChatState]
    conversation_id = action.conversation_id or state.current_settings.default_conversation_id
    conversation = state.conversations.get(conversation_id)
    if conversation is None:
        raise NotFound(f"there is no conversation {conversation_id}")
    for message in list(state.messages.group("conversation", conversation_id)):
        transaction.drop(state.messages, message.message_id)
    transaction.put(state.conversations, conversation_id, replace(conversation, participant_roles=()))


CHAT_OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(SendChat, _send, "send", "chat:send", "chat.message", _bind_send),
    Operation(DeleteChatMessage, _delete, "delete", "chat:delete", "chat.deleted"),
    Operation(ClearConversation, _clear, "clear", "chat:clear", "chat.cleared"),
)
