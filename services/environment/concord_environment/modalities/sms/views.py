"""The queries and views of text messages."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime
from itertools import takewhile
from typing import Final, Literal

from pydantic import BaseModel

from concord_environment.modalities.fields import Id, Line, Moment, Page, Phone, SortOrder
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
    view_fields,
)
from concord_environment.modalities.sms.state import (
    UNREAD,
    Conversation,
    Direction,
    MessageType,
    Participant,
    SMSMessage,
    SMSState,
)


class SMSQuery(Page):
    """Every filter that is given has to hold. Deleted messages are left out unless they are asked for."""

    thread_id: Id | None = None
    phone_number: Phone | None = None
    from_number: Phone | None = None
    to_number: Phone | None = None
    direction: Direction | None = None
    message_type: MessageType | None = None
    is_read: bool | None = None
    has_attachments: bool | None = None
    search_text: Line | None = None
    since: Moment | None = None
    until: Moment | None = None
    include_deleted: bool = False
    sort_by: Literal["sent_at", "date"] = "date"
    sort_order: SortOrder = "desc"


def find_messages(state: SMSState, query: SMSQuery) -> tuple[list[SMSMessage], int]:
    """The page of messages that match a query, and the number of all matches."""
    tests, latest_first = list(_tests(query)), query.sort_order == "desc"
    if not tests and query.thread_id is None:
        return state.messages.window(query.first, query.stop, latest_first=latest_first), len(state.messages)
    found = [message for message in _candidates(state, query) if all(test(message) for test in tests)]
    if not latest_first:
        found.reverse()
    return found[query.first : query.stop], len(found)


def _candidates(state: SMSState, query: SMSQuery) -> Iterable[SMSMessage]:
    """Messages from the latest back to the query's `since`."""
    if query.thread_id is not None:
        candidates = state.messages.group("thread", query.thread_id, latest_first=True)
    elif query.is_read is False and query.direction == "incoming":
        candidates = state.messages.group("flag", UNREAD, latest_first=True)
    else:
        candidates = state.messages.rows(latest_first=True)
    since = query.since
    return candidates if since is None else takewhile(lambda message: message.sent_at >= since, candidates)


def _tests(query: SMSQuery) -> Iterable[Callable[[SMSMessage], bool]]:
    if not query.include_deleted:
        yield lambda message: not message.is_deleted
    if (phone := query.phone_number) is not None:
        yield lambda message: phone == message.from_number or phone in message.to_numbers
    if (sender := query.from_number) is not None:
        yield lambda message: message.from_number == sender
    if (recipient := query.to_number) is not None:
        yield lambda message: recipient in message.to_numbers
    if (direction := query.direction) is not None:
        yield lambda message: message.direction == direction
    if (message_type := query.message_type) is not None:
        yield lambda message: message.message_type == message_type
    if (is_read := query.is_read) is not None:
        yield lambda message: message.is_read == is_read
    if (has_attachments := query.has_attachments) is not None:
        yield lambda message: bool(message.attachments) == has_attachments
    if query.search_text is not None:
        words = query.search_text.casefold()
        yield lambda message: words in message.body.casefold()
    if (since := query.since) is not None:
        yield lambda message: message.sent_at >= since
    if (until := query.until) is not None:
        yield lambda message: message.sent_at <= until


PREVIEW: Final = 100
"""The number of characters of a message in the compact state."""
BRIEF: Final = 50
"""The number of conversations in the compact state."""


class ConversationView(BaseModel):
    """A conversation with what is worked out from its messages."""

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
    """A conversation in one line."""

    thread_id: str
    participants: tuple[str, ...]
    group_name: str | None
    last_message_at: datetime
    last_message: str | None
    message_count: int
    unread_count: int


class SMSCounts(StateView):
    """How many messages there are, in all conversations."""

    user_phone_number: str
    total_message_count: int
    total_conversation_count: int
    unread_count: int


class SMSStateView(SMSCounts):
    """A page of the messages, latest first, and the conversations that they belong to."""

    messages: dict[str, SMSMessage]
    conversations: dict[str, ConversationView]
    returned_count: int
    has_more: bool


class SMSBriefView(SMSCounts):
    """The conversations, each with its last message."""

    conversations: list[ConversationBrief]


class SMSAnswer(QueryAnswer):
    """The messages found."""

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
    query = SMSQuery(since=page.since, limit=page.limit, offset=page.offset, include_deleted=True)
    messages, total = find_messages(state, query)
    shown = _conversations(state, messages)
    return SMSStateView.model_validate(
        {
            **_counts(world, now),
            "messages": {message.message_id: message for message in messages},
            "conversations": {one.thread_id: conversation_view(state, one) for one in shown},
            "returned_count": len(messages),
            "has_more": page.stop < total,
        }
    )


def _conversations(state: SMSState, messages: Iterable[SMSMessage]) -> Iterable[Conversation]:
    """The conversations of messages. If there are few in all, every conversation."""
    if len(state.conversations) <= BRIEF:
        return state.conversations.rows()
    threads = dict.fromkeys(message.thread_id for message in messages)
    return filter(None, map(state.conversations.get, threads))


def _brief(world: States, now: datetime) -> SMSBriefView:
    state = world[SMSState]
    latest = sorted(state.conversations.rows(), key=state.last_message_at, reverse=True)[:BRIEF]
    briefs = [_in_one_line(state, conversation) for conversation in latest]
    return SMSBriefView.model_validate({**_counts(world, now), "conversations": briefs})


def _in_one_line(state: SMSState, conversation: Conversation) -> ConversationBrief:
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


def _answer(world: States, now: datetime, query: SMSQuery) -> SMSAnswer:  # noqa: ARG001 - one signature
    messages, total = find_messages(world[SMSState], query)
    return SMSAnswer.model_validate({**answer_fields("sms", query, len(messages), total), "messages": messages})


def _as_text(brief: SMSBriefView) -> Iterable[str]:
    yield f"SMS: {brief.unread_count} unread, {brief.total_message_count} in all"
    for one in [one for one in brief.conversations if one.unread_count][:5]:
        yield f"  - {', '.join(one.participants)}: {one.last_message}"


SMS_VIEWS: Final = Views(_state, SMSStateView, _brief, SMSBriefView, SMSQuery, _answer, SMSAnswer, _as_text)
