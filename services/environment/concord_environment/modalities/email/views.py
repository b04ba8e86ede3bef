"""Views of the mailbox."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from pydantic import BaseModel
from pydantic_core import to_json

from concord_environment.modalities.email.queries import EmailQuery, find_emails
from concord_environment.modalities.email.state import STARRED, UNREAD, Email, EmailState, EmailThread
from concord_environment.modalities.fields import same_address
from concord_environment.modalities.json_parts import json_fields, json_of
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
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


def _state(world: States, now: datetime, page: StatePage) -> bytes:
    return _state_with(_ids, world, now, page)


def _state_of_0_1(world: States, now: datetime, page: StatePage) -> bytes:
    """The state with the numbers of emails by folder and by label, which UES 0.1 has in place of their ids."""
    return _state_with(_numbers, world, now, page)


def _state_with(
    listed: Callable[[EmailState, Iterable[Email]], dict[str, object]], world: States, now: datetime, page: StatePage
) -> bytes:
    state, counts = world[EmailState], _counts(world, now)
    emails, total = _page(state, page)
    shown = _by_id(state, emails)
    drafts = {email.message_id: shown[email.message_id] for email in emails if email.folder == "drafts"}
    rest = {**listed(state, emails), "returned_count": len(emails), "has_more": page.stop < total}
    return json_of(
        {**json_fields({**counts, **rest}), "emails": shown, "threads": _threads(state, emails), "drafts": drafts}
    )


def _threads(state: EmailState, emails: Iterable[Email]) -> dict[str, bytes]:
    return {thread_id: state.thread_json(thread_id) for thread_id in {email.thread_id: None for email in emails}}


def _ids(state: EmailState, emails: Iterable[Email]) -> dict[str, object]:
    folders: dict[str, list[str]] = {name: [] for name in state.folder_names}
    labels: dict[str, list[str]] = {name: [] for name in state.label_names}
    for email in emails:
        folders[email.folder].append(email.message_id)
        for label in email.labels:
            labels[label].append(email.message_id)
    return {"folders": folders, "labels": labels}


def _numbers(state: EmailState, emails: Iterable[Email]) -> dict[str, object]:  # noqa: ARG001 - one signature
    return {"folders": _sizes(state, "folder", state.folder_names), "labels": _sizes(state, "label", state.label_names)}


def _sizes(state: EmailState, index: str, names: Iterable[str]) -> dict[str, int]:
    return {name: state.emails.group_size(index, name) for name in names}


def _summary(world: States, now: datetime) -> bytes:
    state = world[EmailState]
    emails, labels = list(state.emails.rows(latest_first=True)), state.label_names
    unread = Counter(email.folder for email in state.emails.group("flag", UNREAD))
    folders = {name: (state.emails.group_size("folder", name), unread[name]) for name in state.folder_names}
    fields = {
        **view_fields(world, "email", now),
        "user_email_address": state.address,
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
    previews = {email.message_id: to_json(_preview(email)) for email in emails}
    return json_of({**json_fields(fields), "emails": previews, "threads": _threads(state, emails)})


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


def _answer(world: States, now: datetime, query: EmailQuery) -> bytes:  # noqa: ARG001 - one signature
    state = world[EmailState]
    emails, total = find_emails(state, query)
    fields = json_fields(answer_fields("email", query, len(emails), total))
    return json_of({**fields, "emails": list(_by_id(state, emails).values())})


def _by_id(state: EmailState, emails: Iterable[Email]) -> dict[str, bytes]:
    """The JSON of emails as the user sees them: without Bcc, unless the user sent them."""
    kept = state.emails.json
    return {
        email.message_id: kept(email.message_id) if not email.bcc_addresses else _with_bcc(state, email)
        for email in emails
    }


def _with_bcc(state: EmailState, email: Email) -> bytes:
    if same_address(email.from_address, state.address):
        return state.emails.json(email.message_id)
    return state.emails.adapter.dump_json(replace(email, bcc_addresses=()))


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
    _answer,
    EmailAnswer,
    _as_text,
    _summary,
    EmailSummaryView,
    _state_of_0_1,
)
