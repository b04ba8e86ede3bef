"""Queries and views of the chat."""

from collections.abc import Iterable
from datetime import datetime
from itertools import takewhile
from operator import attrgetter
from typing import Final, Literal

from pydantic import BaseModel

from concord_environment.modalities.chat.state import ChatMessage, ChatState, Content, Role, text_of
from concord_environment.modalities.fields import Id, Line, Moment, Page, SortOrder
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)


class ChatQuery(Page):
    """Finds chat messages that match all given filters, oldest first by default.

    `search` is a substring of the text, in any case. `since` and `until` are inclusive.
    """

    conversation_id: Id | None = None
    role: Role | None = None
    search: Line | None = None
    since: Moment | None = None
    until: Moment | None = None
    sort_by: Literal["timestamp", "role", "conversation_id"] = "timestamp"
    sort_order: SortOrder = "asc"


def find_chat(state: ChatState, query: ChatQuery) -> tuple[list[ChatMessage], int]:
    """The page of messages that match a query, and the number of all matches."""
    latest_first = query.sort_order == "desc"
    by_time = query.sort_by == "timestamp"
    if by_time and (query.conversation_id, query.role, query.search, query.since, query.until) == (None,) * 5:
        return state.messages.window(query.first, query.stop, latest_first=latest_first), len(state.messages)
    text = None if query.search is None else query.search.casefold()
    found = [
        message
        for message in _candidates(state, query)
        if (query.role is None or message.role == query.role)
        and (query.until is None or message.timestamp <= query.until)
        and (text is None or text in text_of(message.content).casefold())
    ]
    if not by_time:
        found.sort(key=attrgetter(query.sort_by), reverse=latest_first)
    elif not latest_first:
        found.reverse()
    return found[query.first : query.stop], len(found)


def _candidates(state: ChatState, query: ChatQuery) -> Iterable[ChatMessage]:
    """Messages from the latest back to `since` of the query."""
    if query.conversation_id is None:
        candidates = state.messages.rows(latest_first=True)
    else:
        candidates = state.messages.group("conversation", query.conversation_id, latest_first=True)
    since = query.since
    return candidates if since is None else takewhile(lambda message: message.timestamp >= since, candidates)


PREVIEW: Final = 500
"""The maximum length of a message in the compact state, in characters."""


class ChatMessageView(BaseModel):
    """A chat message."""

    message_id: str
    conversation_id: str
    role: Role
    content: Content
    timestamp: datetime
    metadata: dict[str, object]


class ChatConversationView(BaseModel):
    """A chat conversation without its messages."""

    conversation_id: str
    created_at: datetime
    last_message_at: datetime
    message_count: int
    participant_roles: tuple[Role, ...]


class ChatCounts(StateView):
    """The conversations of the chat, and the number of messages in all of them."""

    conversations: dict[str, ChatConversationView]
    total_message_count: int
    conversation_count: int
    max_history_size: int
    default_conversation_id: str


class ChatStateView(ChatCounts):
    """The chat messages, oldest first. With a `limit`, the first page has the latest messages."""

    messages: list[ChatMessageView]
    returned_count: int
    has_more: bool


class ChatBriefView(ChatCounts):
    """The latest message of each role in the default conversation, cut after 500 characters."""

    last_exchange: dict[str, str]


class ChatAnswer(QueryAnswer):
    """The chat messages that match a query."""

    messages: list[ChatMessageView]


def _counts(world: States, now: datetime) -> dict[str, object]:
    state = world[ChatState]
    return {
        **view_fields(world, "chat", now),
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


def _state(world: States, now: datetime, page: StatePage) -> ChatStateView:
    query = ChatQuery(since=page.since, limit=page.limit, offset=page.offset, sort_order="desc")
    latest, total = find_chat(world[ChatState], query)
    messages, has_more = [_view(message) for message in reversed(latest)], page.stop < total
    return ChatStateView.model_validate(
        {**_counts(world, now), "messages": messages, "returned_count": len(messages), "has_more": has_more}
    )


def _brief(world: States, now: datetime) -> ChatBriefView:
    default = world[ChatState].current_settings.default_conversation_id
    last_by_role = {
        message.role: text_of(message.content)[:PREVIEW]
        for message in world[ChatState].messages.group_window("conversation", default, 0, 20, latest_first=True)[::-1]
    }
    return ChatBriefView.model_validate({**_counts(world, now), "last_exchange": last_by_role})


def _find(world: States, now: datetime, query: ChatQuery) -> tuple[list[ChatMessageView], int]:  # noqa: ARG001 - one signature
    messages, total = find_chat(world[ChatState], query)
    return [_view(message) for message in messages], total


def _as_text(brief: ChatBriefView) -> Iterable[str]:
    yield f"CHAT: {brief.total_message_count} messages"


CHAT_VIEWS: Final = Views(_state, ChatStateView, _brief, ChatBriefView, ChatQuery, _find, ChatAnswer, _as_text)
