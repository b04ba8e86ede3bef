"""The rows of a mailbox."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from concord_environment.core.rows import row
from concord_environment.modalities.fields import Address, Addresses, Id, Ids, Labels, Line, Moment, Name, Text

FOLDERS: Final = ("inbox", "sent", "drafts", "trash", "spam", "archive")
"""The folders that every mailbox has; moving a mail to another name makes that folder."""

Priority = Literal["high", "normal", "low"]


class Attachment(BaseModel):
    """A file at a mail: what it is called and what it is, not its content."""

    model_config = ConfigDict(frozen=True)

    filename: Name
    size: Annotated[int, Field(ge=0)] = 0
    mime_type: Name = "application/octet-stream"
    content_id: Name | None = None
    attachment_id: Id | None = None


@row
class Email:
    """One mail, in exactly one folder."""

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
        """Everybody who sees that the others are on it: without the blind copies."""
        return (self.from_address, *self.to_addresses, *self.cc_addresses)


@dataclass(frozen=True, slots=True)
class EmailAccount:
    """Whose mailbox it is."""

    user_email_address: Address = "user@example.com"


@dataclass(frozen=True, slots=True)
class EmailThread:
    """A conversation, as it is worked out from its mails."""

    thread_id: str
    subject: str
    participant_addresses: tuple[str, ...]
    message_ids: tuple[str, ...]
    created_at: datetime
    last_message_at: datetime
    message_count: int
    unread_count: int
