"""The rows and tables of the mailbox."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from concord_environment.core.clock import to_us
from concord_environment.core.order import SortKey
from concord_environment.core.rows import row
from concord_environment.core.tables import Table
from concord_environment.modalities.fields import Address, Addresses, Id, Ids, Labels, Line, Moment, Name, Text
from concord_environment.modalities.modality import ONLY_KEY

FOLDERS: Final = ("inbox", "sent", "drafts", "trash", "spam", "archive")
"""The folders of every mailbox. Moving an email to another folder creates that folder."""

Priority = Literal["high", "normal", "low"]


class Attachment(BaseModel):
    """The description of a file attached to an email, without the content. `size` is in bytes."""

    model_config = ConfigDict(frozen=True)

    filename: Name
    size: Annotated[int, Field(ge=0)] = 0
    mime_type: Name = "application/octet-stream"
    content_id: Name | None = None
    attachment_id: Id | None = None


@row
class Email:
    """An email (RFC 5322), in exactly one folder. `message_id` is the Message-ID."""

    message_id: Id
    thread_id: Id
    from_address: Address
    to_addresses: Addresses
    subject: Line
    sent_at: Moment
    received_at: Moment
    body_text: Text = ""
    body_html: Text | None = None
    cc_addresses: Addresses = ()
    bcc_addresses: Addresses = ()
    reply_to_address: Address | None = None
    attachments: tuple[Attachment, ...] = ()
    in_reply_to: Id | None = None
    references: Ids = ()
    is_read: bool = False
    is_starred: bool = False
    priority: Priority = "normal"
    folder: Name = "inbox"
    labels: Labels = ()

    @property
    def participants(self) -> tuple[str, ...]:
        """The sender and the recipients, without Bcc."""
        return (self.from_address, *self.to_addresses, *self.cc_addresses)


@dataclass(frozen=True, slots=True)
class EmailAccount:
    """The owner of the mailbox, and the folders and labels of the owner's own, with emails or without."""

    user_email_address: Address = "user@example.com"
    folders: tuple[Name, ...] = ()
    labels: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class EmailThread:
    """A thread, computed from its emails."""

    thread_id: str
    subject: str
    participant_addresses: tuple[str, ...]
    message_ids: tuple[str, ...]
    created_at: datetime
    last_message_at: datetime
    message_count: int
    unread_count: int


_PREFIX: Final = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|tr)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)


@lru_cache(maxsize=4096)
def base_subject(subject: str) -> str:
    """The base subject (RFC 5256 §2.1, common forms only): lower case, without prefixes, with single blanks."""
    text = " ".join(subject.split())
    prefix = _PREFIX.match(text)
    return text[prefix.end() if prefix else 0 :].casefold()


@lru_cache(maxsize=4096)
def is_reply(subject: str) -> bool:
    """Whether a subject has the prefix of a reply or a forwarded email."""
    return _PREFIX.match(subject.lstrip()) is not None


MAX_NAMES: Final = 1_000
"""The maximum number of folders, and of labels, that the mailbox keeps when they have no emails."""

UNREAD = "unread"
STARRED = "starred"


def _sort_key(email: Email) -> SortKey:
    return (to_us(email.received_at),)


def _flags(email: Email) -> tuple[str, ...]:
    unread = () if email.is_read else (UNREAD,)
    return (*unread, STARRED) if email.is_starred else unread


def _labels(email: Email) -> tuple[str, ...]:
    return tuple(dict.fromkeys(email.labels)) if email.labels else ()


def _referenced(email: Email) -> tuple[str, ...]:
    ids = email.references if email.in_reply_to is None else (*email.references, email.in_reply_to)
    return tuple(dict.fromkeys(ids)) if ids else ()


class EmailState:
    """The emails in the order of arrival, indexed by folder, label and flag, and the owner of the mailbox."""

    def __init__(self) -> None:
        self.emails: Table[Email] = Table(
            "email.emails",
            Email,
            order=_sort_key,
            indexes={
                "folder": lambda email: (email.folder,),
                "label": _labels,
                "flag": _flags,
            },
            lookups={
                "thread": lambda email: (email.thread_id,),
                "subject": lambda email: (base_subject(email.subject),),
                # The ids in References and In-Reply-To. A referenced email may arrive after the reply.
                "referenced": _referenced,
            },
        )
        self.account: Table[EmailAccount] = Table("email.account", EmailAccount)

    @property
    def tables(self) -> tuple[Table[Email], Table[EmailAccount]]:
        """The tables."""
        return self.emails, self.account

    @property
    def current_account(self) -> EmailAccount:
        """The owner of the mailbox."""
        return self.account.get(ONLY_KEY) or EmailAccount()

    @property
    def address(self) -> str:
        """The simulated user's address."""
        return self.current_account.user_email_address

    @property
    def folder_names(self) -> list[str]:
        """The folders, with emails or without."""
        return list(dict.fromkeys((*FOLDERS, *self.current_account.folders, *self.emails.index_values("folder"))))

    @property
    def label_names(self) -> list[str]:
        """The labels, with emails or without."""
        return list(dict.fromkeys((*self.current_account.labels, *self.emails.index_values("label"))))

    def thread(self, thread_id: str) -> EmailThread:
        """The thread to which emails with this `thread_id` belong."""
        return _thread(self.emails.found("thread", thread_id))


def _thread(emails: Sequence[Email]) -> EmailThread:
    participants = {address for email in emails for address in email.participants}
    return EmailThread(
        thread_id=emails[0].thread_id,
        subject=emails[0].subject,
        participant_addresses=tuple(sorted(participants)),
        message_ids=tuple([email.message_id for email in emails]),
        created_at=emails[0].received_at,
        last_message_at=emails[-1].received_at,
        message_count=len(emails),
        unread_count=sum(not email.is_read for email in emails),
    )
