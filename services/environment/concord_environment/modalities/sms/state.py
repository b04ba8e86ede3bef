"""The rows and tables of text messages."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from concord_environment.core.clock import to_us
from concord_environment.core.order import SortKey
from concord_environment.core.tables import Table
from concord_environment.modalities.fields import Id, Line, Moment, Name, Phone, Phones, Text, phone_key
from concord_environment.modalities.modality import ONLY_KEY

MessageType = Literal["sms", "rcs"]
Direction = Literal["incoming", "outgoing"]
DeliveryStatus = Literal["sending", "sent", "delivered", "failed", "read"]


class MessageAttachment(BaseModel):
    """The description of a file attached to a message, without the content.

    `size` is in bytes, and `duration`, for audio and video, in seconds.
    """

    model_config = ConfigDict(frozen=True)

    filename: Name
    size: Annotated[int, Field(ge=0)] = 0
    mime_type: Name = "application/octet-stream"
    attachment_id: Id | None = None
    thumbnail_url: Line | None = None
    duration: Annotated[int | None, Field(ge=0)] = None


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction to a message: an emoji from a phone number."""

    reaction_id: Id
    message_id: Id
    phone_number: Phone
    emoji: Name
    timestamp: Moment


@dataclass(frozen=True, slots=True)
class SMSMessage:
    """A text message."""

    message_id: Id
    thread_id: Id
    from_number: Phone
    to_numbers: Phones
    body: Text
    direction: Direction
    sent_at: Moment
    message_type: MessageType = "sms"
    attachments: tuple[MessageAttachment, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    delivered_at: Moment | None = None
    read_at: Moment | None = None
    is_read: bool = False
    delivery_status: DeliveryStatus = "sent"
    edited_at: Moment | None = None
    is_deleted: bool = False
    replied_to_message_id: Id | None = None
    is_spam: bool = False


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant in a conversation. The address book has the names."""

    phone_number: Phone
    joined_at: Moment
    is_admin: bool = False
    left_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of text messages, without the messages."""

    thread_id: Id
    conversation_type: Literal["one_on_one", "group"]
    participants: tuple[Participant, ...]
    created_at: Moment
    created_by: Phone | None = None
    group_name: Name | None = None
    group_photo_url: Line | None = None
    is_pinned: bool = False
    is_muted: bool = False
    is_archived: bool = False
    draft_message: Text | None = None


@dataclass(frozen=True, slots=True)
class SMSAccount:
    """The owner of the phone."""

    user_phone_number: Phone = "+15550000000"
    max_messages_per_conversation: int = 10_000


UNREAD = "unread"


def _sort_key(message: SMSMessage) -> SortKey:
    return (to_us(message.sent_at),)


def _unread(message: SMSMessage) -> tuple[str, ...]:
    if message.direction == "incoming" and not message.is_read and not message.is_deleted:
        return UNREAD, f"{UNREAD}:{message.thread_id}"
    return ()


def _participants(conversation: Conversation) -> tuple[str]:
    return (participants_key(participant.phone_number for participant in conversation.participants),)


def participants_key(numbers: Iterable[str]) -> str:
    """The value in the lookup `participants` of the conversations with exactly these phone numbers."""
    return " ".join(sorted({phone_key(number) for number in numbers}))


class SMSState:
    """Messages in the order of sending, conversations, and the owner of the phone."""

    def __init__(self) -> None:
        self.messages: Table[SMSMessage] = Table(
            "sms.messages",
            SMSMessage,
            order=_sort_key,
            indexes={"thread": lambda message: (message.thread_id,), "flag": _unread},
        )
        self.conversations: Table[Conversation] = Table(
            "sms.conversations", Conversation, lookups={"participants": _participants}
        )
        self.account: Table[SMSAccount] = Table("sms.account", SMSAccount)

    @property
    def tables(self) -> tuple[Table[SMSMessage], Table[Conversation], Table[SMSAccount]]:
        """The tables."""
        return self.messages, self.conversations, self.account

    @property
    def current_account(self) -> SMSAccount:
        """The owner of the phone."""
        return self.account.get(ONLY_KEY) or SMSAccount()

    @property
    def number(self) -> str:
        """The simulated user's phone number."""
        return self.current_account.user_phone_number

    def last_message_at(self, conversation: Conversation) -> datetime:
        """The time of the last message of a conversation, or of its creation if it has no messages."""
        latest = self.messages.group_window("thread", conversation.thread_id, 0, 1, latest_first=True)
        return latest[0].sent_at if latest else conversation.created_at
