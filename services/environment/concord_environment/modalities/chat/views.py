"""What callers see of the chat."""

from datetime import datetime
from typing import Final

from pydantic import BaseModel

from concord_environment.modalities.chat.queries import ChatQuery, find_chat
from concord_environment.modalities.chat.records import ChatMessage, Content, Role, text_of
from concord_environment.modalities.views import QueryAnswer, StatePage, StateView, Views, finding, heading
from concord_environment.modalities.world import EnvironmentWorld

PREVIEW: Final = 500
"""How many characters the compact state shows of a message."""


class ChatMessageView(BaseModel):
    """One message."""

    message_id: str
    conversation_id: str
    role: Role
    content: Content
    timestamp: datetime
    metadata: dict[str, object]


class ChatConversationView(BaseModel):
    """A conversation with the number of its messages."""

    conversation_id: str
    created_at: datetime
    last_message_at: datetime
    message_count: int
    participant_roles: tuple[Role, ...]


class ChatCounts(StateView):
    """The conversations, and how many messages they have."""

    conversations: dict[str, ChatConversationView]
    total_message_count: int
    conversation_count: int
    max_history_size: int
    default_conversation_id: str


class ChatStateView(ChatCounts):
    """A page of the messages, the latest, in the order in which they were said."""

    messages: list[ChatMessageView]
    returned_count: int
    has_more: bool


class ChatBriefView(ChatCounts):
    """The last thing that each side said in the default conversation, shortened."""

    last_exchange: dict[str, str]


class ChatAnswer(QueryAnswer):
    """The messages found."""

    messages: list[ChatMessageView]


def _counts(world: EnvironmentWorld, now: datetime) -> dict[str, object]:
    state = world.chat
    return {
        **heading(world, "chat", now),
        "conversations": {
            conversation.conversation_id: ChatConversationView(
                conversation_id=conversation.conversation_id,
                created_at=conversation.created_at,
                last_message_at=conversation.last_message_at,
                message_count=state.messages.group_size("conversation", conversation.conversation_id),
                participant_roles=conversation.participant_roles,
            )
            for conversation in state.conversations.rows()
        },
        "total_message_count": len(state.messages),
        "conversation_count": len(state.conversations),
        "max_history_size": state.current_settings.max_history_size,
        "default_conversation_id": state.current_settings.default_conversation_id,
    }


def _view(message: ChatMessage) -> ChatMessageView:
    return ChatMessageView(
        message_id=message.message_id,
        conversation_id=message.conversation_id,
        role=message.role,
        content=message.content,
        timestamp=message.timestamp,
        metadata={**message.metadata},
    )


def _state(world: EnvironmentWorld, now: datetime, page: StatePage) -> ChatStateView:
    query = ChatQuery(since=page.since, limit=page.limit, offset=page.offset, sort_order="desc")
    latest, total = find_chat(world.chat, query)
    messages, more = [_view(message) for message in reversed(latest)], page.stop < total
    return ChatStateView.model_validate(
        {**_counts(world, now), "messages": messages, "returned_count": len(messages), "has_more": more}
    )


def _brief(world: EnvironmentWorld, now: datetime) -> ChatBriefView:
    default = world.chat.current_settings.default_conversation_id
    said = {
        message.role: text_of(message.content)[:PREVIEW]
        for message in world.chat.messages.group_window("conversation", default, 0, 20, latest_first=True)[::-1]
    }
    return ChatBriefView.model_validate({**_counts(world, now), "last_exchange": said})


def _answer(world: EnvironmentWorld, now: datetime, query: ChatQuery) -> ChatAnswer:  # noqa: ARG001 - one signature
    messages, total = find_chat(world.chat, query)
    return ChatAnswer.model_validate(
        {**finding("chat", query, len(messages), total), "messages": [_view(message) for message in messages]}
    )


CHAT_VIEWS: Final = Views("chat", _state, ChatStateView, _brief, ChatBriefView, ChatQuery, _answer, ChatAnswer)
