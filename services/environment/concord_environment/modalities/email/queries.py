"""Queries of the mailbox."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, Final, Literal

from concord_environment.modalities.email.state import STARRED, UNREAD, Email, EmailState, Priority
from concord_environment.modalities.fields import Id, Labels, Line, Moment, Name, Page, SortOrder

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


def find_emails(state: EmailState, query: EmailQuery) -> tuple[list[Email], int]:
    """The page of emails that match a query, and the number of all matches."""
    tests, groups = list(_tests(query)), _groups(query)
    latest_first = query.sort_by is not None and query.sort_order == "desc"
    key = _SORT_KEYS.get(query.sort_by)
    looked_up = query.thread_id is not None or query.from_address is not None or query.subject_contains is not None
    if key is None and not looked_up and len(tests) == len(groups) <= 1:
        return _window(state, query, groups, latest_first)
    candidates = _candidates(state, query, groups)
    found = [email for email in candidates if all(test(email) for test in tests)] if tests else list(candidates)
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
        candidates = reversed(emails.found("thread", query.thread_id))
    elif query.from_address is not None:
        candidates = reversed(_containing(state, "sender", query.from_address))
    elif query.subject_contains is not None:
        candidates = reversed(_containing(state, "subject_text", query.subject_contains))
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


def _containing(state: EmailState, lookup: str, substring: str) -> list[Email]:
    """The emails whose value in a lookup contains a substring, in any case. Each distinct value is searched once."""
    wanted = substring.casefold()
    return state.emails.found(lookup, *[value for value in state.emails.lookup_values(lookup) if wanted in value])


def _groups(query: EmailQuery) -> Groups:
    return [
        (index, value)
        for index, value, is_filtered in (
            ("folder", query.folder, query.folder is not None),
            ("label", query.label, query.label is not None),
            ("flag", UNREAD, query.is_read is False),
            ("flag", STARRED, query.is_starred is True),
        )
        if is_filtered and value is not None
    ]


def _tests(query: EmailQuery) -> Iterable[Callable[[Email], bool]]:
    """The conditions of a query that its candidates need not satisfy already."""
    yield from _tests_of_fields(query)
    yield from _tests_of_texts(query)
    for after in filter(None, (query.received_after, query.date_from, query.since)):
        yield lambda email, after=after: email.received_at >= after  # type: ignore[misc]  # bound in the loop
    for before in filter(None, (query.received_before, query.date_to)):
        yield lambda email, before=before: email.received_at <= before  # type: ignore[misc]  # bound in the loop
    if (sent_after := query.sent_after) is not None:
        yield lambda email: email.sent_at >= sent_after
    if (sent_before := query.sent_before) is not None:
        yield lambda email: email.sent_at <= sent_before


def _tests_of_fields(query: EmailQuery) -> Iterable[Callable[[Email], bool]]:
    if (folder := query.folder) is not None:
        yield lambda email: email.folder == folder
    if (label := query.label) is not None:
        yield lambda email: label in email.labels
    if query.labels is not None:
        labels = frozenset(query.labels)
        yield lambda email: not labels.isdisjoint(email.labels)
    if (is_read := query.is_read) is not None:
        yield lambda email: email.is_read == is_read
    if (is_starred := query.is_starred) is not None:
        yield lambda email: email.is_starred == is_starred
    if (has_attachments := query.has_attachments) is not None:
        yield lambda email: bool(email.attachments) == has_attachments
    if (priority := query.priority) is not None:
        yield lambda email: email.priority == priority


def _tests_of_texts(query: EmailQuery) -> Iterable[Callable[[Email], bool]]:
    if query.from_address is not None and query.thread_id is not None:
        sender = query.from_address.casefold()
        yield lambda email: sender in email.from_address.casefold()
    if query.to_address is not None:
        recipient = query.to_address.casefold()
        yield lambda email: any(
            recipient in address.casefold()
            for address in (*email.to_addresses, *email.cc_addresses, *email.bcc_addresses)
        )
    if query.subject_contains is not None and (query.thread_id is not None or query.from_address is not None):
        subject = query.subject_contains.casefold()
        yield lambda email: subject in email.subject.casefold()
    if query.body_contains is not None:
        body = query.body_contains.casefold()
        yield lambda email: body in email.body_text.casefold()
    if query.search is not None:
        text = query.search.casefold()
        yield lambda email: text in email.subject.casefold() or text in email.body_text.casefold()
