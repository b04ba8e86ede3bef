"""The modality `chat`: the chat between the user and the assistant."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from concord_environment.modalities.chat.operations import CHAT_IMPLEMENTATIONS, ChatAction, SendChat
from concord_environment.modalities.chat.state import ChatConversation, ChatMessage, ChatSettings, ChatState
from concord_environment.modalities.chat.views import CHAT_VIEWS
from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows
from concord_environment.modalities.fields import Id
from concord_environment.modalities.modality import ONLY_KEY, EventFacts, Modality, plain_data
from concord_environment_client.modalities.chat import ChatCalls


def _with_sequence(messages: object) -> object:
    """Adds the `sequence` that messages of older scenario files lack."""
    if not isinstance(messages, list):
        return messages
    return [
        {"sequence": sequence, **message} if isinstance(message, Mapping) else message
        for sequence, message in enumerate(messages)
    ]


class ChatDocument(StateDocument):
    """The messages and conversations of the chat."""

    messages: Annotated[list[ChatMessage], BeforeValidator(_with_sequence)] = Field(default_factory=list)
    conversations: dict[Id, ChatConversation] = Field(default_factory=dict)
    max_history_size: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    default_conversation_id: Id = "default"


def _load(state: ChatState, document: ChatDocument) -> None:
    state.settings.write(ONLY_KEY, ChatSettings(document.max_history_size, document.default_conversation_id))
    load_rows(state.conversations, document.conversations, "conversation_id")
    load_rows(state.messages, {message.message_id: message for message in document.messages}, "message_id")


def _dump(state: ChatState) -> dict[str, Any]:
    conversations = dict(state.conversations.items())
    return {"messages": list(state.messages.rows()), "conversations": conversations, **asdict(state.current_settings)}


def _inconsistencies(state: ChatState) -> Iterator[str]:
    for message in state.messages.rows():
        if message.conversation_id not in state.conversations:
            yield f"chat: conversation {message.conversation_id} of message {message.message_id} does not exist"


def _event_data(state: ChatState, action: ChatAction, facts: EventFacts) -> dict[str, Any]:
    """An action of the chat as UES's events have it, with the conversation, and with the id of a new message."""
    data = plain_data(state, action, facts)
    data["conversation_id"] = data["conversation_id"] or state.current_settings.default_conversation_id
    if isinstance(action, SendChat):
        data |= {"message_id": action.message_id or facts.row_id, "metadata": action.metadata}
    return data


MODALITY: Final = Modality(
    calls=ChatCalls,
    description="the chat between the user and the assistant",
    state=ChatState,
    implementations=CHAT_IMPLEMENTATIONS,
    default_operation="send_message",
    views=CHAT_VIEWS,
    scenario=ScenarioForm(ChatDocument, _load, _dump),
    inconsistencies=_inconsistencies,
    event_data=_event_data,
)
