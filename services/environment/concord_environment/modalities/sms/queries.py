"""Queries of the text messages."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, Final, Literal

from concord_environment.modalities.fields import (
    Filters,
    Id,
    Line,
    Moment,
    Page,
    Phone,
    SortOrder,
    contains,
    given_filters,
    phone_key,
    same_phone,
)
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


_FILTERS: Final[Filters] = {
    "thread_id": lambda thread_id, message: message.thread_id == thread_id,
    "phone_number": lambda phone, message: same_phone(message.from_number, phone) or _received(message, phone),
    "from_number": lambda phone, message: same_phone(message.from_number, phone),
    "to_number": lambda phone, message: _received(message, phone),
    "direction": lambda direction, message: message.direction == direction,
    "message_type": lambda message_type, message: message.message_type == message_type,
    "is_read": lambda is_read, message: message.is_read == is_read,
    "has_attachments": lambda has_attachments, message: bool(message.attachments) == has_attachments,
    "delivery_status": lambda status, message: message.delivery_status == status,
    "is_deleted": lambda is_deleted, message: message.is_deleted == is_deleted,
    "is_spam": lambda is_spam, message: message.is_spam == is_spam,
    **dict.fromkeys(("body_contains", "search_text"), lambda part, message: contains(message.body, part)),
    **dict.fromkeys(("sent_after", "since"), lambda moment, message: message.sent_at >= moment),
    **dict.fromkeys(("sent_before", "until"), lambda moment, message: message.sent_at <= moment),
}


def find_messages(state: SMSState, query: SMSQuery) -> tuple[list[SMSMessage], int]:
    """The page of messages that match a query, and the number of all matches."""
    tests = given_filters(query, _FILTERS).values()
    latest_first = query.sort_by is not None and query.sort_order == "desc"
    if not tests and query.sort_by not in _SORT_KEYS:
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


def _received(message: SMSMessage, number: str) -> bool:
    return any(same_phone(recipient, number) for recipient in message.to_numbers)
