"""Queries of the text messages."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, Final, Literal

from concord_environment.modalities.fields import Id, Line, Moment, Page, Phone, SortOrder, phone_key, same_phone
from concord_environment.modalities.sms.state import (
    UNREAD,
    DeliveryStatus,
    Direction,
    MessageType,
    SMSMessage,
    SMSState,
)

SortField = Literal["sent_at", "date", "timestamp", "from_number", "direction"]

_SORT_KEYS: Final[dict[str | None, Callable[[SMSMessage], Any]]] = {
    "from_number": lambda message: phone_key(message.from_number),
    "direction": lambda message: message.direction,
}


class SMSQuery(Page):
    """Finds text messages that match all given filters, in the order of sending.

    With `sort_by`, they are sorted, latest or greatest first unless `sort_order` says otherwise.

    Phone numbers match in any spelling; `phone_number` is the sender or a recipient. `body_contains` and `search_text`
    are substrings of the text, in any case. `sent_after` and `since` mean the earliest time, `sent_before` and `until`
    the latest; all are inclusive. Deleted messages are marked, and match unless `is_deleted` is false.
    """

    thread_id: Id | None = None
    phone_number: Phone | None = None
    from_number: Phone | None = None
    to_number: Phone | None = None
    direction: Direction | None = None
    message_type: MessageType | None = None
    is_read: bool | None = None
    has_attachments: bool | None = None
    delivery_status: DeliveryStatus | None = None
    is_deleted: bool | None = None
    is_spam: bool | None = None
    body_contains: Line | None = None
    search_text: Line | None = None
    sent_after: Moment | None = None
    sent_before: Moment | None = None
    since: Moment | None = None
    until: Moment | None = None
    sort_by: SortField | None = None
    sort_order: SortOrder = "desc"


def find_messages(state: SMSState, query: SMSQuery) -> tuple[list[SMSMessage], int]:
    """The page of messages that match a query, and the number of all matches."""
    tests = list(_tests(query))
    latest_first = query.sort_by is not None and query.sort_order == "desc"
    if not tests and query.thread_id is None and query.sort_by not in _SORT_KEYS:
        return state.messages.window(query.first, query.stop, latest_first=latest_first), len(state.messages)
    found = [message for message in _candidates(state, query) if all(test(message) for test in tests)]
    if (key := _SORT_KEYS.get(query.sort_by)) is not None:
        found.sort(key=key, reverse=latest_first)
    elif not latest_first:
        found.reverse()
    return found[query.first : query.stop], len(found)


def _candidates(state: SMSState, query: SMSQuery) -> Iterable[SMSMessage]:
    """Messages from the latest back to the earliest time of the query."""
    if query.thread_id is not None:
        candidates = state.messages.group("thread", query.thread_id, latest_first=True)
    elif query.is_read is False and query.direction == "incoming":
        candidates = state.messages.group("flag", UNREAD, latest_first=True)
    else:
        candidates = state.messages.rows(latest_first=True)
    since = max(filter(None, (query.since, query.sent_after)), default=None)
    return candidates if since is None else takewhile(lambda message: message.sent_at >= since, candidates)


def _tests(query: SMSQuery) -> Iterable[Callable[[SMSMessage], bool]]:
    if (is_deleted := query.is_deleted) is not None:
        yield lambda message: message.is_deleted == is_deleted
    if (is_spam := query.is_spam) is not None:
        yield lambda message: message.is_spam == is_spam
    if (status := query.delivery_status) is not None:
        yield lambda message: message.delivery_status == status
    if (phone := query.phone_number) is not None:
        yield lambda message: same_phone(message.from_number, phone) or _received(message, phone)
    if (sender := query.from_number) is not None:
        yield lambda message: same_phone(message.from_number, sender)
    if (recipient := query.to_number) is not None:
        yield lambda message: _received(message, recipient)
    if (direction := query.direction) is not None:
        yield lambda message: message.direction == direction
    if (message_type := query.message_type) is not None:
        yield lambda message: message.message_type == message_type
    if (is_read := query.is_read) is not None:
        yield lambda message: message.is_read == is_read
    if (has_attachments := query.has_attachments) is not None:
        yield lambda message: bool(message.attachments) == has_attachments
    for text in [text.casefold() for text in (query.body_contains, query.search_text) if text is not None]:
        yield lambda message, text=text: text in message.body.casefold()  # type: ignore[misc]  # bound in the loop
    for since in filter(None, (query.since, query.sent_after)):
        yield lambda message, since=since: message.sent_at >= since  # type: ignore[misc]  # bound in the loop
    for until in filter(None, (query.until, query.sent_before)):
        yield lambda message, until=until: message.sent_at <= until  # type: ignore[misc]  # bound in the loop


def _received(message: SMSMessage, number: str) -> bool:
    return any(same_phone(recipient, number) for recipient in message.to_numbers)
