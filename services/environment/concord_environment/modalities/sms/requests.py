"""The requests of the operations on text messages."""

from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import Id, Ids, Moment, Name, NoneAsEmpty, Phone, Phones, Text
from concord_environment.modalities.sms.state import MessageAttachment, MessageType

_NESTED: Final = (
    "message_data",
    "reaction_data",
    "delete_data",
    "delivery_update_data",
    "group_data",
    "conversation_update_data",
)
"""The nested objects in which older scenario files keep the fields of an action."""


class SMSAction(Action):
    """Base class of the requests."""

    modality: ClassVar[str] = "sms"

    @model_validator(mode="before")
    @classmethod
    def _unnest(cls, data: Any) -> Any:  # noqa: ANN401 - whatever was sent
        if not isinstance(data, dict):
            return data
        flat = {key: value for key, value in data.items() if key not in _NESTED}
        for name in _NESTED:
            if isinstance(nested := data.get(name), dict):
                flat = {**nested, **flat}
        if "conversation_id" in flat:
            flat.setdefault("thread_id", flat["conversation_id"])
        return flat


class _Message(SMSAction):
    body: Text = ""
    message_type: MessageType = "sms"
    attachments: Annotated[tuple[MessageAttachment, ...], Field(max_length=100), NoneAsEmpty] = ()
    thread_id: Id | None = None
    replied_to_message_id: Id | None = None


class SendMessage(_Message):
    """A message from the user. `from_number` may only be the user's own; it goes without saying."""

    operation: Literal["send_message"] = "send_message"
    to_numbers: Annotated[Phones, Field(min_length=1)]
    from_number: Phone | None = None


class ReceiveMessage(_Message):
    """A message that comes in. `sent_at` in the future has it come in then."""

    operation: Literal["receive_message"] = "receive_message"
    from_number: Phone
    to_numbers: Annotated[Phones, NoneAsEmpty] = ()
    message_id: Id | None = None
    sent_at: Moment | None = None
    is_spam: bool = False


class _Selection(SMSAction):
    """One message or several."""

    message_id: Id | None = None
    message_ids: Annotated[Ids, NoneAsEmpty] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the selected messages, without duplicates."""
        return tuple(dict.fromkeys((*filter(None, (self.message_id,)), *self.message_ids)))

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not self.ids:
            raise ValueError("name a message: message_id or message_ids")
        return self


class MarkMessagesRead(_Selection):
    """Marks messages as read."""

    operation: Literal["mark_read"] = "mark_read"


class MarkMessagesUnread(_Selection):
    """Marks messages as unread."""

    operation: Literal["mark_unread"] = "mark_unread"


class DeleteMessages(_Selection):
    """Deletes messages: they stay as deleted ones, without their text."""

    operation: Literal["delete_message"] = "delete_message"


class AddReaction(SMSAction):
    """Puts an emoji on a message. `phone_number` is who reacts; the user where nobody is named."""

    operation: Literal["add_reaction"] = "add_reaction"
    message_id: Id
    emoji: Name
    phone_number: Phone | None = None


class CreateGroup(SMSAction):
    """Begins a group conversation."""

    operation: Literal["create_group"] = "create_group"
    participant_numbers: Annotated[Phones, Field(min_length=1)]
    group_name: Name | None = None
    creator_number: Phone | None = None
    thread_id: Id | None = None


class UpdateConversation(SMSAction):
    """Pins, mutes, archives a conversation, keeps a draft in it, or marks all of it as read."""

    operation: Literal["update_conversation"] = "update_conversation"
    thread_id: Id
    pin: bool | None = None
    mute: bool | None = None
    archive: bool | None = None
    mark_all_read: bool = False
    draft_message: Text | None = None


class UpdateDeliveryStatus(SMSAction):
    """Says what became of a message that the user sent, or that a received one was read."""

    operation: Literal["update_delivery_status"] = "update_delivery_status"
    message_id: Id
    new_status: Literal["delivered", "failed", "read"]
