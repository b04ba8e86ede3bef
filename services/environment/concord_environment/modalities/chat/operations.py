"""What each action in the chat does."""

from dataclasses import replace
from typing import Final

from concord_environment.core.faults import Conflict, Forbidden, NotThere
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.chat import requests
from concord_environment.modalities.chat.records import ChatConversation, ChatMessage
from concord_environment.modalities.chat.state import ChatState
from concord_environment.modalities.operation import AnyOperation, Caller, Operation
from concord_environment.modalities.world import EnvironmentWorld

SPEAK_AS_USER: Final = "chat:send:user"


def _bind_send(world: EnvironmentWorld, action: requests.SendChat, caller: Caller) -> requests.SendChat:  # noqa: ARG001
    if action.role == "user" and not caller.may(SPEAK_AS_USER):
        raise Forbidden(f"Permission denied: role 'user' requires '{SPEAK_AS_USER}'")
    return action.model_copy(update={"role": action.role or "assistant"})


def _send(world: EnvironmentWorld, action: requests.SendChat, transaction: Transaction) -> None:
    state = world.chat
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


def _delete(world: EnvironmentWorld, action: requests.DeleteChatMessage, transaction: Transaction) -> None:
    if action.message_id not in world.chat.messages:
        raise NotThere(f"there is no message {action.message_id}")
    transaction.drop(world.chat.messages, action.message_id)


def _clear(world: EnvironmentWorld, action: requests.ClearConversation, transaction: Transaction) -> None:
    state = world.chat
    conversation_id = action.conversation_id or state.current_settings.default_conversation_id
    conversation = state.conversations.get(conversation_id)
    if conversation is None:
        raise NotThere(f"there is no conversation {conversation_id}")
    for message in list(state.messages.group("conversation", conversation_id)):
        transaction.drop(state.messages, message.message_id)
    transaction.put(state.conversations, conversation_id, replace(conversation, participant_roles=()))


CHAT_OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(requests.SendChat, _send, "send", "chat:send", "chat.message", _bind_send),
    Operation(requests.DeleteChatMessage, _delete, "delete", "chat:delete", "chat.deleted"),
    Operation(requests.ClearConversation, _clear, "clear", "chat:clear", "chat.cleared"),
)
