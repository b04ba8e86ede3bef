"""The requests of the operations of the mailbox."""

from typing import Annotated, Any, ClassVar, Literal

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
from concord_environment.modalities.message_selection import MessageSelection

Attachments = Annotated[tuple[Attachment, ...], Field(max_length=100)]


class EmailAction(Action):
    """Base class of the requests of the mailbox."""

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
    """Sends an email from the user.

    `from_address` defaults to the user's address; another one requires the permission `email:send:others`. To reply,
    set `in_reply_to` to the `message_id` of the email; the service then adds the References header and the thread. An
    email to the user's own address also arrives in the inbox. Fails without the permission (403).
    """

    operation: Literal["send"] = "send"
    from_address: Address | None = None


class ReceiveEmail(_Message):
    """Delivers an email from somebody else to the mailbox.

    The email arrives at once, or at `sent_at` if that is in the future. Email from a blocked contact goes to the spam
    folder instead of the inbox. The service generates the `message_id` by default. Fails if it exists (409).
    """

    operation: Literal["receive"] = "receive"
    from_address: Address
    message_id: Id | None = None
    sent_at: Moment | None = None
    folder: Name = "inbox"
    labels: Annotated[Labels, NoneAsEmpty] = ()
    is_read: bool = False


class _Selection(MessageSelection, EmailAction):
    """Base class of the requests for one or several emails."""


class MarkRead(_Selection):
    """Marks emails as read. Ids that do not exist are left out."""

    operation: Literal["mark_read"] = "mark_read"


class MarkUnread(_Selection):
    """Marks emails as unread. Ids that do not exist are left out."""

    operation: Literal["mark_unread"] = "mark_unread"


class Star(_Selection):
    """Adds the star to emails. Ids that do not exist are left out."""

    operation: Literal["star"] = "star"


class Unstar(_Selection):
    """Removes the star from emails. Ids that do not exist are left out."""

    operation: Literal["unstar"] = "unstar"


class Archive(_Selection):
    """Moves emails to the archive folder. Ids that do not exist are left out."""

    operation: Literal["archive"] = "archive"


class Delete(_Selection):
    """Moves emails to the trash folder. Emails that are in the trash already are deleted permanently.

    Ids that do not exist are left out.
    """

    operation: Literal["delete"] = "delete"


class _Labelling(_Selection):
    labels: Annotated[Labels, Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _label_as_labels(cls, data: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(data, dict) and "label" in data and "labels" not in data:
            return {**data, "labels": [data["label"]]}
        return data


class AddLabel(_Labelling):
    """Adds labels to emails. Ids that do not exist are left out."""

    operation: Literal["add_label"] = "add_label"


class RemoveLabel(_Labelling):
    """Removes labels from emails. Ids that do not exist are left out."""

    operation: Literal["remove_label"] = "remove_label"


class Move(_Selection):
    """Moves emails to a folder, and creates the folder if it does not exist.

    Ids that do not exist are left out.
    """

    operation: Literal["move"] = "move"
    folder: Name
