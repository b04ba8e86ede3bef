"""Views of the mailbox."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from pydantic import BaseModel

from concord_environment.modalities.email.queries import EmailQuery, find_emails
from concord_environment.modalities.email.state import FOLDERS, STARRED, UNREAD, Email, EmailState, EmailThread
from concord_environment.modalities.fields import same_address
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
    view_fields,
)

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
    """A page of the emails, latest first, with the threads, folders, labels and drafts of that page."""

    emails: dict[str, Email]
    threads: dict[str, EmailThread]
    folders: dict[str, list[str]]
    labels: dict[str, list[str]]
    drafts: dict[str, Email]
    returned_count: int
    has_more: bool


class EmailBriefView(EmailCounts):
    """The latest 50 emails of the inbox, without bodies."""

    emails: list[EmailSummary]


class EmailAnswer(QueryAnswer):
    """The emails that match a query."""

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
    emails = [_visible(state, email) for email in latest]
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
    visible = [_visible(world[EmailState], email) for email in emails]
    return EmailAnswer.model_validate({**answer_fields("email", query, len(emails), total), "emails": visible})


def _visible(state: EmailState, email: Email) -> Email:
    """The email as the user sees it: without Bcc, unless the user sent it."""
    return email if same_address(email.from_address, state.address) else replace(email, bcc_addresses=())


def _as_text(brief: EmailBriefView) -> Iterable[str]:
    yield f"EMAIL: {brief.unread_count} unread, {brief.total_email_count} in all"
    for email in [email for email in brief.emails if not email.is_read][:5]:
        yield f'  - "{email.subject}" from {email.from_address}'


EMAIL_VIEWS: Final = Views(_state, EmailStateView, _brief, EmailBriefView, EmailQuery, _answer, EmailAnswer, _as_text)
