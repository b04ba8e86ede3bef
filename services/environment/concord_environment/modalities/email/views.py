"""Views of the mailbox."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from pydantic import BaseModel

from concord_environment.modalities.email.queries import EmailQuery, find_emails
from concord_environment.modalities.email.state import STARRED, UNREAD, Email, EmailState, EmailThread
from concord_environment.modalities.fields import same_address
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)

PREVIEW: Final = 100
"""The maximum length of a body in the summary, in characters."""

BRIEF: Final = 50
"""The number of emails in the compact state."""


class EmailSummary(BaseModel):
    """An email without its body."""

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


class EmailPreview(BaseModel):
    """An email with the beginning of its body."""

    message_id: str
    thread_id: str
    from_address: str
    to_addresses: tuple[str, ...]
    subject: str
    sent_at: datetime
    received_at: datetime
    is_read: bool
    is_starred: bool
    folder: str
    has_attachments: bool
    attachment_count: int
    body_preview: str


class FolderCounts(BaseModel):
    """The numbers of emails in a folder."""

    message_count: int
    unread_count: int


class EmailStatistics(BaseModel):
    """The numbers of emails, threads and labels in the mailbox."""

    total_emails: int
    total_threads: int
    total_unread: int
    total_starred: int
    total_drafts: int
    total_labels: int


class EmailSummaryView(StateView):
    """The whole mailbox without bodies."""

    user_email_address: str
    statistics: EmailStatistics
    folders: dict[str, FolderCounts]
    labels: dict[str, int]
    emails: dict[str, EmailPreview]
    threads: dict[str, EmailThread]


class EmailCounts(StateView):
    """The numbers of emails and threads in the whole mailbox."""

    user_email_address: str
    total_email_count: int
    unread_count: int
    starred_count: int
    total_threads: int
    draft_count: int
    folder_counts: dict[str, int]
    label_counts: dict[str, int]


class EmailStateView(EmailCounts):
    """The emails, latest first, with their threads, folders, labels and drafts."""

    emails: dict[str, Email]
    threads: dict[str, EmailThread]
    folders: dict[str, list[str]]
    labels: dict[str, list[str]]
    drafts: dict[str, Email]
    returned_count: int
    has_more: bool


class NumberedStateView(EmailStateView):
    """The state for clients of UES 0.1: the numbers of emails by folder and by label."""

    folders: dict[str, int]  # type: ignore[assignment]  # numbers in place of ids
    labels: dict[str, int]  # type: ignore[assignment]


class EmailBriefView(EmailCounts):
    """The latest 50 emails of the inbox, without bodies."""

    emails: list[EmailSummary]


class EmailAnswer(QueryAnswer):
    """The emails that match a query."""

    emails: list[Email]


def _counts(world: States, now: datetime) -> dict[str, object]:
    state = world[EmailState]
    return {
        **view_fields(world, "email", now),
        "user_email_address": state.address,
        "total_email_count": len(state.emails),
        "unread_count": state.emails.group_size("flag", UNREAD),
        "starred_count": state.emails.group_size("flag", STARRED),
        "total_threads": len(state.emails.lookup_values("thread")),
        "draft_count": state.emails.group_size("folder", "drafts"),
        "folder_counts": _sizes(state, "folder", state.folder_names),
        "label_counts": _sizes(state, "label", state.label_names),
    }


def _state(world: States, now: datetime, page: StatePage) -> EmailStateView:
    state = world[EmailState]
    emails, total = _page(state, page)
    shown = {email.message_id: _shown(state, email) for email in emails}
    return EmailStateView.model_validate(
        {
            **_counts(world, now),
            **_ids(state, emails),
            "emails": shown,
            "threads": _threads(state, emails),
            "drafts": {key: email for key, email in shown.items() if email.folder == "drafts"},
            "returned_count": len(emails),
            "has_more": page.stop < total,
        }
    )


def _state_of_0_1(world: States, now: datetime, page: StatePage) -> EmailStateView:
    """The state with the numbers of emails by folder and by label, which UES 0.1 has in place of their ids."""
    view = _state(world, now, page)
    return NumberedStateView.model_construct(
        **{**dict(view), "folders": view.folder_counts, "labels": view.label_counts}
    )


def _threads(state: EmailState, emails: Iterable[Email]) -> dict[str, EmailThread]:
    return {thread_id: state.thread(thread_id) for thread_id in {email.thread_id: None for email in emails}}


def _ids(state: EmailState, emails: Iterable[Email]) -> dict[str, object]:
    folders: dict[str, list[str]] = {name: [] for name in state.folder_names}
    labels: dict[str, list[str]] = {name: [] for name in state.label_names}
    for email in emails:
        folders[email.folder].append(email.message_id)
        for label in email.labels:
            labels[label].append(email.message_id)
    return {"folders": folders, "labels": labels}


def _sizes(state: EmailState, index: str, names: Iterable[str]) -> dict[str, int]:
    return {name: state.emails.group_size(index, name) for name in names}


def _summary(world: States, now: datetime) -> EmailSummaryView:
    state = world[EmailState]
    emails, labels = list(state.emails.rows(latest_first=True)), state.label_names
    unread = Counter(email.folder for email in state.emails.group("flag", UNREAD))
    folders = {name: (state.emails.group_size("folder", name), unread[name]) for name in state.folder_names}
    fields = {
        **view_fields(world, "email", now),
        "user_email_address": state.address,
        "emails": {email.message_id: _preview(email) for email in emails},
        "threads": _threads(state, emails),
        "statistics": EmailStatistics(
            total_emails=len(emails),
            total_threads=len(state.emails.lookup_values("thread")),
            total_unread=unread.total(),
            total_starred=state.emails.group_size("flag", STARRED),
            total_drafts=state.emails.group_size("folder", "drafts"),
            total_labels=len(labels),
        ),
        "folders": {name: FolderCounts(message_count=all_, unread_count=new) for name, (all_, new) in folders.items()},
        "labels": _sizes(state, "label", labels),
    }
    return EmailSummaryView.model_validate(fields)


def _preview(email: Email) -> EmailPreview:
    return EmailPreview(
        message_id=email.message_id,
        thread_id=email.thread_id,
        from_address=email.from_address,
        to_addresses=email.to_addresses,
        subject=email.subject,
        sent_at=email.sent_at,
        received_at=email.received_at,
        is_read=email.is_read,
        is_starred=email.is_starred,
        folder=email.folder,
        has_attachments=bool(email.attachments),
        attachment_count=len(email.attachments),
        body_preview=email.body_text[:PREVIEW],
    )


def _page(state: EmailState, page: StatePage) -> tuple[list[Email], int]:
    return find_emails(state, EmailQuery(since=page.since, limit=page.limit, offset=page.offset, sort_by="date"))


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


def _find(world: States, now: datetime, query: EmailQuery) -> tuple[list[Email], int]:  # noqa: ARG001 - one signature
    state = world[EmailState]
    emails, total = find_emails(state, query)
    return [_shown(state, email) for email in emails], total


def _shown(state: EmailState, email: Email) -> Email:
    """An email as the user sees it: without Bcc, unless the user sent it."""
    return email if same_address(email.from_address, state.address) else replace(email, bcc_addresses=())


def _as_text(brief: EmailBriefView) -> Iterable[str]:
    yield f"EMAIL: {brief.unread_count} unread, {brief.total_email_count} in all"
    for email in [email for email in brief.emails if not email.is_read][:5]:
        yield f'  - "{email.subject}" from {email.from_address}'


EMAIL_VIEWS: Final = Views(
    _state,
    EmailStateView,
    _brief,
    EmailBriefView,
    EmailQuery,
    _find,
    EmailAnswer,
    _as_text,
    _summary,
    EmailSummaryView,
    _state_of_0_1,
)
