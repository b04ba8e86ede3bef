"""Views of text messages."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel

from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)
from concord_environment.modalities.sms.queries import SMSQuery, find_messages
from concord_environment.modalities.sms.state import UNREAD, Conversation, Participant, SMSMessage, SMSState

PREVIEW: Final = 100
"""The maximum length of a message in the compact state, in characters."""
BRIEF: Final = 50
"""The number of conversations in the compact state."""


class ConversationView(BaseModel):
    """A conversation with the numbers of its messages, without the messages."""

    thread_id: str
    conversation_type: Literal["one_on_one", "group"]
    participants: tuple[Participant, ...]
    created_at: datetime
    created_by: str | None
    group_name: str | None
    group_photo_url: str | None
    is_pinned: bool
    is_muted: bool
    is_archived: bool
    draft_message: str | None
    last_message_at: datetime
    message_count: int
    unread_count: int


class ConversationBrief(BaseModel):
    """A conversation with its last message, cut after 100 characters."""

    thread_id: str
    participants: tuple[str, ...]
    group_name: str | None
    last_message_at: datetime
    last_message: str | None
    message_count: int
    unread_count: int


class SMSCounts(StateView):
    """The numbers of conversations and of messages in all of them."""

    user_phone_number: str
    total_message_count: int
    total_conversation_count: int
    unread_count: int


class SMSStateView(SMSCounts):
    """The messages, latest first, and their conversations, or all conversations if there are at most 50."""

    messages: dict[str, SMSMessage]
    conversations: dict[str, ConversationView]
    returned_count: int
    has_more: bool


class SMSBriefView(SMSCounts):
    """The 50 conversations with the latest messages, each with its last message."""

    conversations: list[ConversationBrief]


class SMSAnswer(QueryAnswer):
    """The text messages that match a query."""

    messages: list[SMSMessage]


def _counts(world: States, now: datetime) -> dict[str, object]:
    state = world[SMSState]
    return {
        **view_fields(world, "sms", now),
        "user_phone_number": state.number,
        "total_message_count": len(state.messages),
        "total_conversation_count": len(state.conversations),
        "unread_count": state.messages.group_size("flag", UNREAD),
    }


def conversation_view(state: SMSState, conversation: Conversation) -> ConversationView:
    """A conversation with its message counts."""
    return ConversationView(
        **{**asdict(conversation), "participants": conversation.participants},
        last_message_at=state.last_message_at(conversation),
        message_count=state.messages.group_size("thread", conversation.thread_id),
        unread_count=state.messages.group_size("flag", f"{UNREAD}:{conversation.thread_id}"),
    )


def _state(world: States, now: datetime, page: StatePage) -> SMSStateView:
    state = world[SMSState]
    query = SMSQuery(since=page.since, limit=page.limit, offset=page.offset, sort_by="sent_at")
    messages, total = find_messages(state, query)
    conversations = _conversations(state, messages)
    return SMSStateView.model_validate(
        {
            **_counts(world, now),
            "messages": {message.message_id: message for message in messages},
            "conversations": {
                conversation.thread_id: conversation_view(state, conversation) for conversation in conversations
            },
            "returned_count": len(messages),
            "has_more": page.stop < total,
        }
    )


def _conversations(state: SMSState, messages: Iterable[SMSMessage]) -> Iterable[Conversation]:
    """The conversations of messages, or all conversations if there are at most `BRIEF`."""
    if len(state.conversations) <= BRIEF:
        return state.conversations.rows()
    threads = dict.fromkeys(message.thread_id for message in messages)
    return filter(None, map(state.conversations.get, threads))


def _brief(world: States, now: datetime) -> SMSBriefView:
    state = world[SMSState]
    latest = sorted(state.conversations.rows(), key=state.last_message_at, reverse=True)[:BRIEF]
    briefs = [_conversation_brief(state, conversation) for conversation in latest]
    return SMSBriefView.model_validate({**_counts(world, now), "conversations": briefs})


def _conversation_brief(state: SMSState, conversation: Conversation) -> ConversationBrief:
    last = state.messages.group_window("thread", conversation.thread_id, 0, 1, latest_first=True)
    return ConversationBrief(
        thread_id=conversation.thread_id,
        participants=tuple(participant.phone_number for participant in conversation.participants),
        group_name=conversation.group_name,
        last_message_at=state.last_message_at(conversation),
        last_message=last[0].body[:PREVIEW] if last else None,
        message_count=state.messages.group_size("thread", conversation.thread_id),
        unread_count=state.messages.group_size("flag", f"{UNREAD}:{conversation.thread_id}"),
    )


def _find(world: States, now: datetime, query: SMSQuery) -> tuple[list[SMSMessage], int]:  # noqa: ARG001 - one signature
    return find_messages(world[SMSState], query)


def _as_text(brief: SMSBriefView) -> Iterable[str]:
    yield f"SMS: {brief.unread_count} unread, {brief.total_message_count} in all"
    for conversation in [conversation for conversation in brief.conversations if conversation.unread_count][:5]:
        yield f"  - {', '.join(conversation.participants)}: {conversation.last_message}"


SMS_VIEWS: Final = Views(_state, SMSStateView, _brief, SMSBriefView, SMSQuery, _find, SMSAnswer, _as_text)
