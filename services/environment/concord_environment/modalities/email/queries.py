"""Queries of the mailbox."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, Final, Literal

from concord_environment.modalities.email.state import STARRED, UNREAD, Email, EmailState, Priority
from concord_environment.modalities.fields import (
    Filters,
    Id,
    Labels,
    Line,
    Moment,
    Name,
    Page,
    SortOrder,
    contains,
    given_filters,
)

SortField = Literal["date", "received_at", "sent_at", "from", "from_address", "subject"]

_SORT_KEYS: Final[dict[str | None, Callable[[Email], Any]]] = {
    "sent_at": lambda email: email.sent_at,
    "from": lambda email: email.from_address.casefold(),
    "from_address": lambda email: email.from_address.casefold(),
    "subject": lambda email: email.subject.casefold(),
}


class EmailQuery(Page):
    """Finds emails that match all given filters, in the order of arrival.

    With `sort_by`, they are sorted, latest or greatest first unless `sort_order` says otherwise.

    Address and text filters are substrings, in any case. `to_address` includes Cc and Bcc. `search` covers subject and
    plain-text body. `received_after`, `date_from` and `since` all mean the earliest arrival, and `received_before` and
    `date_to` the latest; all are inclusive, as are `sent_after` and `sent_before`. An email has one folder and any
    number of labels; it matches `labels` if it has one of them.
    """

    folder: Name | None = None
    label: Name | None = None
    labels: Labels | None = None
    is_read: bool | None = None
    is_starred: bool | None = None
    has_attachments: bool | None = None
    priority: Priority | None = None
    from_address: Line | None = None
    to_address: Line | None = None
    subject_contains: Line | None = None
    body_contains: Line | None = None
    search: Line | None = None
    thread_id: Id | None = None
    sent_after: Moment | None = None
    sent_before: Moment | None = None
    received_after: Moment | None = None
    received_before: Moment | None = None
    date_from: Moment | None = None
    date_to: Moment | None = None
    since: Moment | None = None
    sort_by: SortField | None = None
    sort_order: SortOrder = "desc"


_FILTERS: Final[Filters] = {
    "folder": lambda folder, email: email.folder == folder,
    "label": lambda label, email: label in email.labels,
    "labels": lambda labels, email: not set(labels).isdisjoint(email.labels),
    "is_read": lambda is_read, email: email.is_read == is_read,
    "is_starred": lambda is_starred, email: email.is_starred == is_starred,
    "has_attachments": lambda has_attachments, email: bool(email.attachments) == has_attachments,
    "priority": lambda priority, email: email.priority == priority,
    "from_address": lambda part, email: contains(email.from_address, part),
    "to_address": lambda part, email: any(
        contains(address, part) for address in (*email.to_addresses, *email.cc_addresses, *email.bcc_addresses)
    ),
    "subject_contains": lambda part, email: contains(email.subject, part),
    "body_contains": lambda part, email: contains(email.body_text, part),
    "search": lambda part, email: contains(email.subject, part) or contains(email.body_text, part),
    "thread_id": lambda thread_id, email: email.thread_id == thread_id,
    "sent_after": lambda moment, email: email.sent_at >= moment,
    "sent_before": lambda moment, email: email.sent_at <= moment,
    **dict.fromkeys(("received_after", "date_from", "since"), lambda moment, email: email.received_at >= moment),
    **dict.fromkeys(("received_before", "date_to"), lambda moment, email: email.received_at <= moment),
}


def find_emails(state: EmailState, query: EmailQuery) -> tuple[list[Email], int]:
    """The page of emails that match a query, and the number of all matches."""
    tests, groups = given_filters(query, _FILTERS), _groups(query)
    latest_first = query.sort_by is not None and query.sort_order == "desc"
    key = _SORT_KEYS.get(query.sort_by)
    if key is None and len(tests) == len(groups) <= 1:
        return _window(state, query, groups, latest_first)
    found = [email for email in _candidates(state, query, groups) if all(test(email) for test in tests.values())]
    if key is not None:
        found.sort(key=key, reverse=latest_first)
    elif not latest_first:
        found.reverse()
    return found[query.first : query.stop], len(found)


Groups = list[tuple[str, str]]
"""Index groups that contain all matches of a query: pairs of the index and the value."""


def _window(state: EmailState, query: EmailQuery, groups: Groups, latest_first: bool) -> tuple[list[Email], int]:
    """A page of one group or of all emails. The table keeps both in order."""
    emails, first, stop = state.emails, query.first, query.stop
    if not groups:
        return emails.window(first, stop, latest_first=latest_first), len(emails)
    return emails.group_window(*groups[0], first, stop, latest_first=latest_first), emails.group_size(*groups[0])


def _candidates(state: EmailState, query: EmailQuery, groups: Groups) -> Iterable[Email]:
    """The smallest group of emails with all matches, from the latest back to the earliest arrival of the query."""
    emails = state.emails
    if query.thread_id is not None:
        candidates: Iterable[Email] = reversed(emails.found("thread", query.thread_id))
    elif groups:
        narrowest = min(groups, key=lambda group: emails.group_size(*group))
        candidates = emails.group(*narrowest, latest_first=True)
    else:
        candidates = emails.rows(latest_first=True)
    since = [moment for moment in (query.received_after, query.date_from, query.since) if moment is not None]
    if not since:
        return candidates
    earliest = max(since)
    return takewhile(lambda email: email.received_at >= earliest, candidates)


def _groups(query: EmailQuery) -> Groups:
    flags = {UNREAD: query.is_read is False, STARRED: query.is_starred is True}
    named = [("folder", query.folder), ("label", query.label)]
    return [
        *((index, value) for index, value in named if value is not None),
        *(("flag", flag) for flag, is_wanted in flags.items() if is_wanted),
    ]
