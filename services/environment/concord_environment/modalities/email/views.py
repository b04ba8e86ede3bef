"""The mailbox's queries and views."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import Any, Final, Literal

from pydantic import BaseModel

from concord_environment.modalities.email.state import FOLDERS, STARRED, UNREAD, Email, EmailState, EmailThread
from concord_environment.modalities.fields import Id, Line, Moment, Name, Page, SortOrder, same_address
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
    view_fields,
)

SortField = Literal["date", "received_at", "sent_at", "from", "from_address", "subject"]

_SORT_KEYS: Final[dict[str, Callable[[Email], Any]]] = {
    "sent_at": lambda email: email.sent_at,
    "from": lambda email: email.from_address.casefold(),
    "from_address": lambda email: email.from_address.casefold(),
    "subject": lambda email: email.subject.casefold(),
}


class EmailQuery(Page):
    """Every filter that is given has to hold. Words are found in any case; an address may be part of one."""

    folder: Name | None = None
    label: Name | None = None
    is_read: bool | None = None
    is_starred: bool | None = None
    has_attachments: bool | None = None
    from_address: Line | None = None
    to_address: Line | None = None
    subject_contains: Line | None = None
    body_contains: Line | None = None
    search: Line | None = None
    thread_id: Id | None = None
    received_after: Moment | None = None
    received_before: Moment | None = None
    date_from: Moment | None = None
    date_to: Moment | None = None
    since: Moment | None = None
    sort_by: SortField = "date"
    sort_order: SortOrder = "desc"


def find_emails(state: EmailState, query: EmailQuery) -> tuple[list[Email], int]:
    """The page of mails that match a query, and the number of all matches."""
    tests, groups, latest_first = list(_tests(query)), _groups(query), query.sort_order == "desc"
    key = _SORT_KEYS.get(query.sort_by)
    if key is None and query.thread_id is None and len(tests) == len(groups) <= 1:
        return _window(state, query, groups, latest_first)
    found = [email for email in _candidates(state, query, groups) if all(test(email) for test in tests)]
    if key is not None:
        found.sort(key=key, reverse=latest_first)
    elif not latest_first:
        found.reverse()
    return found[query.first : query.stop], len(found)


Groups = list[tuple[str, str]]
"""Pairs of an index and a value whose group a query selects."""


def _window(state: EmailState, query: EmailQuery, groups: Groups, latest_first: bool) -> tuple[list[Email], int]:
    """A page of one group or of all mails, which the table keeps in order."""
    emails, first, stop = state.emails, query.first, query.stop
    if not groups:
        return emails.window(first, stop, latest_first=latest_first), len(emails)
    return emails.group_window(*groups[0], first, stop, latest_first=latest_first), emails.group_size(*groups[0])


def _candidates(state: EmailState, query: EmailQuery, groups: Groups) -> Iterable[Email]:
    """The smallest group of mails that has all matches, from the latest back to the query's earliest moment."""
    emails = state.emails
    if query.thread_id is not None:
        candidates = reversed(emails.found("thread", query.thread_id))
    elif query.from_address is not None:
        part = query.from_address.casefold()
        senders = [sender for sender in emails.lookup_values("sender") if part in sender]
        candidates = reversed(emails.found("sender", *senders))
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
    return [
        (index, word)
        for index, word, asked in (
            ("folder", query.folder, query.folder is not None),
            ("label", query.label, query.label is not None),
            ("flag", UNREAD, query.is_read is False),
            ("flag", STARRED, query.is_starred is True),
        )
        if asked and word is not None
    ]


def _tests(query: EmailQuery) -> Iterable[Callable[[Email], bool]]:
    if (folder := query.folder) is not None:
        yield lambda email: email.folder == folder
    if (label := query.label) is not None:
        yield lambda email: label in email.labels
    if (is_read := query.is_read) is not None:
        yield lambda email: email.is_read == is_read
    if (is_starred := query.is_starred) is not None:
        yield lambda email: email.is_starred == is_starred
    if (has_attachments := query.has_attachments) is not None:
        yield lambda email: bool(email.attachments) == has_attachments
    if query.from_address is not None:
        sender = query.from_address.casefold()
        yield lambda email: sender in email.from_address.casefold()
    if query.to_address is not None:
        recipient = query.to_address.casefold()
        yield lambda email: any(
            recipient in address.casefold()
            for address in (*email.to_addresses, *email.cc_addresses, *email.bcc_addresses)
        )
    if query.subject_contains is not None:
        subject = query.subject_contains.casefold()
        yield lambda email: subject in email.subject.casefold()
    if query.body_contains is not None:
        body = query.body_contains.casefold()
        yield lambda email: body in email.body_text.casefold()
    if query.search is not None:
        words = query.search.casefold()
        yield lambda email: words in email.subject.casefold() or words in email.body_text.casefold()
    for after in filter(None, (query.received_after, query.date_from, query.since)):
        yield lambda email, after=after: email.received_at >= after  # type: ignore[misc]  # bound in the loop
    for before in filter(None, (query.received_before, query.date_to)):
        yield lambda email, before=before: email.received_at <= before  # type: ignore[misc]  # bound in the loop


BRIEF: Final = 50
"""The number of mails in the compact state."""


class EmailSummary(BaseModel):
    """A mail without its text."""

    message_id: str
    thread_id: str
    from_address: str
    to_addresses: tuple[str, ...]
    subject: str
    received_at: datetime
    is_read: bool
    is_starred: bool
    folder: str
    labels: tuple[str, ...]
    has_attachments: bool


class EmailCounts(StateView):
    """How many mails there are of each kind, in the whole mailbox."""

    user_email_address: str
    total_email_count: int
    unread_count: int
    starred_count: int
    total_threads: int
    draft_count: int
    folder_counts: dict[str, int]
    label_counts: dict[str, int]


class EmailStateView(EmailCounts):
    """A page of the mailbox, latest mails first; threads, folders and labels as far as they show on it."""

    emails: dict[str, Email]
    threads: dict[str, EmailThread]
    folders: dict[str, list[str]]
    labels: dict[str, list[str]]
    drafts: dict[str, Email]
    returned_count: int
    has_more: bool


class EmailBriefView(EmailCounts):
    """The latest mails of the inbox, without their texts."""

    emails: list[EmailSummary]


class EmailAnswer(QueryAnswer):
    """The mails found."""

    emails: list[Email]


def _counts(world: States, now: datetime) -> dict[str, object]:
    state = world[EmailState]
    names = dict.fromkeys((*FOLDERS, *state.emails.index_values("folder")))
    return {
        **view_fields(world, "email", now),
        "user_email_address": state.address,
        "total_email_count": len(state.emails),
        "unread_count": state.emails.group_size("flag", UNREAD),
        "starred_count": state.emails.group_size("flag", STARRED),
        "total_threads": len(state.emails.lookup_values("thread")),
        "draft_count": state.emails.group_size("folder", "drafts"),
        "folder_counts": {name: state.emails.group_size("folder", name) for name in names},
        "label_counts": {name: state.emails.group_size("label", name) for name in state.emails.index_values("label")},
    }


def _state(world: States, now: datetime, page: StatePage) -> EmailStateView:
    state, counts = world[EmailState], _counts(world, now)
    latest, total = _page(state, page)
    emails = [_as_seen(state, email) for email in latest]
    folders: dict[str, list[str]] = {name: [] for name in FOLDERS}
    labels: dict[str, list[str]] = {}
    for email in emails:
        folders.setdefault(email.folder, []).append(email.message_id)
        for label in email.labels:
            labels.setdefault(label, []).append(email.message_id)
    threads = {email.thread_id: state.thread(email.thread_id) for email in emails}
    return EmailStateView.model_validate(
        {
            **counts,
            "emails": {email.message_id: email for email in emails},
            "threads": {thread_id: thread for thread_id, thread in threads.items() if thread},
            "folders": folders,
            "labels": labels,
            "drafts": {email.message_id: email for email in emails if email.folder == "drafts"},
            "returned_count": len(emails),
            "has_more": page.stop < total,
        }
    )


def _page(state: EmailState, page: StatePage) -> tuple[list[Email], int]:
    return find_emails(state, EmailQuery(since=page.since, limit=page.limit, offset=page.offset))


def _brief(world: States, now: datetime) -> EmailBriefView:
    latest = world[EmailState].emails.group_window("folder", "inbox", 0, BRIEF, latest_first=True)
    return EmailBriefView.model_validate({**_counts(world, now), "emails": list(_summaries(latest))})


def _summaries(emails: Iterable[Email]) -> Iterable[EmailSummary]:
    for email in emails:
        yield EmailSummary(
            message_id=email.message_id,
            thread_id=email.thread_id,
            from_address=email.from_address,
            to_addresses=email.to_addresses,
            subject=email.subject,
            received_at=email.received_at,
            is_read=email.is_read,
            is_starred=email.is_starred,
            folder=email.folder,
            labels=email.labels,
            has_attachments=bool(email.attachments),
        )


def _answer(world: States, now: datetime, query: EmailQuery) -> EmailAnswer:  # noqa: ARG001 - one signature
    emails, total = find_emails(world[EmailState], query)
    shown = [_as_seen(world[EmailState], email) for email in emails]
    return EmailAnswer.model_validate({**answer_fields("email", query, len(emails), total), "emails": shown})


def _as_seen(state: EmailState, email: Email) -> Email:
    """The mail without its blind copies, unless the user sent it."""
    return email if same_address(email.from_address, state.address) else replace(email, bcc_addresses=())


def _as_text(brief: EmailBriefView) -> Iterable[str]:
    yield f"EMAIL: {brief.unread_count} unread, {brief.total_email_count} in all"
    for email in [email for email in brief.emails if not email.is_read][:5]:
        yield f'  - "{email.subject}" from {email.from_address}'


EMAIL_VIEWS: Final = Views(_state, EmailStateView, _brief, EmailBriefView, EmailQuery, _answer, EmailAnswer, _as_text)
