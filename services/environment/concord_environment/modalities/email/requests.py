"""The requests of the mailbox's operations."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.modalities.email.state import Attachment, Priority
from concord_environment.modalities.fields import (
    Address,
    Addresses,
    Id,
    Ids,
    Labels,
    Line,
    Moment,
    Name,
    NoneAsEmpty,
    Text,
)

Attachments = Annotated[tuple[Attachment, ...], Field(max_length=100)]


class EmailAction(Action):
    """Base class of the mailbox's requests."""

    modality: ClassVar[str] = "email"


class _Message(EmailAction):
    to_addresses: Annotated[Addresses, Field(min_length=1)]
    subject: Line = ""
    body_text: Text = ""
    body_html: Text | None = None
    cc_addresses: Annotated[Addresses, NoneAsEmpty] = ()
    bcc_addresses: Annotated[Addresses, NoneAsEmpty] = ()
    reply_to_address: Address | None = None
    attachments: Annotated[Attachments, NoneAsEmpty] = ()
    thread_id: Id | None = None
    in_reply_to: Id | None = None
    references: Annotated[Ids, NoneAsEmpty] = ()
    priority: Priority = "normal"


class SendEmail(_Message):
    """A mail from the user. `from_address` may only be the user's own; it goes without saying."""

    operation: Literal["send"] = "send"
    from_address: Address | None = None


class ReceiveEmail(_Message):
    """A mail that comes in. `sent_at` in the future has it come in then; `message_id` is made up if none is given."""

    operation: Literal["receive"] = "receive"
    from_address: Address
    message_id: Id | None = None
    sent_at: Moment | None = None
    folder: Name = "inbox"
    labels: Annotated[Labels, NoneAsEmpty] = ()
    is_read: bool = False


class _Selection(EmailAction):
    """One mail or several."""

    message_id: Id | None = None
    message_ids: Annotated[Ids, NoneAsEmpty] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the selected mails, without duplicates."""
        return tuple(dict.fromkeys((*filter(None, (self.message_id,)), *self.message_ids)))

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not self.ids:
            raise ValueError("name a mail: message_id or message_ids")
        return self


class MarkRead(_Selection):
    """Marks mails as read."""

    operation: Literal["mark_read"] = "mark_read"


class MarkUnread(_Selection):
    """Marks mails as unread."""

    operation: Literal["mark_unread"] = "mark_unread"


class Star(_Selection):
    """Stars mails."""

    operation: Literal["star"] = "star"


class Unstar(_Selection):
    """Takes the star off mails."""

    operation: Literal["unstar"] = "unstar"


class Archive(_Selection):
    """Moves mails to the archive."""

    operation: Literal["archive"] = "archive"


class Delete(_Selection):
    """Moves mails to the trash; those that are in the trash are gone for good."""

    operation: Literal["delete"] = "delete"


class _Labelling(_Selection):
    labels: Annotated[Labels, Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _one_label(cls, data: Any) -> Any:  # noqa: ANN401 - whatever was sent
        if isinstance(data, dict) and "label" in data and "labels" not in data:
            return {**data, "labels": [data["label"]]}
        return data


class AddLabel(_Labelling):
    """Puts labels on mails."""

    operation: Literal["add_label"] = "add_label"


class RemoveLabel(_Labelling):
    """Takes labels off mails."""

    operation: Literal["remove_label"] = "remove_label"


class Move(_Selection):
    """Moves mails to a folder, which is made if there is none of that name."""

    operation: Literal["move"] = "move"
    folder: Name
