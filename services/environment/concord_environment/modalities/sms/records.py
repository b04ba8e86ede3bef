"""The rows of a phone's messages."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from concord_environment.modalities.fields import Id, Line, Moment, Name, Phone, Phones, Text

MessageType = Literal["sms", "rcs"]
Direction = Literal["incoming", "outgoing"]
DeliveryStatus = Literal["sending", "sent", "delivered", "failed", "read"]


class MessageAttachment(BaseModel):
    """A file at a message: what it is, not its content."""

    model_config = ConfigDict(frozen=True)

    filename: Name
    size: Annotated[int, Field(ge=0)] = 0
    mime_type: Name = "application/octet-stream"
    attachment_id: Id | None = None
    thumbnail_url: Line | None = None
    duration: Annotated[int | None, Field(ge=0)] = None


@dataclass(frozen=True, slots=True)
class Reaction:
    """An emoji that somebody put on a message."""

    reaction_id: Id
    message_id: Id
    phone_number: Phone
    emoji: Name
    timestamp: Moment


@dataclass(frozen=True, slots=True)
class SMSMessage:
    """One message."""

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
    """Somebody in a conversation. Names are the contacts' business."""

    phone_number: Phone
    joined_at: Moment
    is_admin: bool = False
    left_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation; how many messages it has is worked out from them."""

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
    """Whose phone it is."""

    user_phone_number: Phone = "+15550000000"
    max_messages_per_conversation: int = 10_000
