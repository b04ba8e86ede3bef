"""Queries of the text messages."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Literal

from concord_environment.modalities.fields import Id, Line, Moment, Page, Phone, SortOrder
from concord_environment.modalities.sms.state import UNREAD, Direction, MessageType, SMSMessage, SMSState


class SMSQuery(Page):
    """Finds text messages that match all given filters, latest first by default.

    `phone_number` is the sender or a recipient. `search_text` is a substring of the text, in any case. `since` and
    `until` are inclusive. `include_deleted` adds deleted messages, which have no text.
    """

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
    """Messages from the latest back to `since` of the query."""
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
        text = query.search_text.casefold()
        yield lambda message: text in message.body.casefold()
    if (since := query.since) is not None:
        yield lambda message: message.sent_at >= since
    if (until := query.until) is not None:
        yield lambda message: message.sent_at <= until
