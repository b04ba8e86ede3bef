"""The requests of the operations on text messages."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import Id, Line, Moment, Name, NoneAsEmpty, Phone, Phones, Text
from concord_environment.modalities.message_selection import MessageSelection
from concord_environment.modalities.sms.state import MessageAttachment, MessageType

NESTED: Final = (
    "message_data",
    "delivery_update_data",
    "reaction_data",
    "edit_data",
    "delete_data",
    "group_data",
    "participant_data",
    "conversation_update_data",
)
"""The nested objects in which UES's events keep the fields of an action."""


class SMSAction(Action):
    """Base class of the requests for text messages."""

    modality: ClassVar[str] = "sms"
    nested: ClassVar[str]
    """The nested object of the action in `NESTED`."""

    @model_validator(mode="before")
    @classmethod
    def _unnest(cls, data: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(data, dict):
            return data
        flat = {key: value for key, value in data.items() if key not in NESTED}
        for name in NESTED:
            if isinstance(nested := data.get(name), dict):
                flat = {**nested, **flat}
        if "conversation_id" in flat:
            flat.setdefault("thread_id", flat["conversation_id"])
        return flat


class _Message(SMSAction):
    nested: ClassVar[str] = "message_data"
    body: Text
    message_type: MessageType = "sms"
    attachments: Annotated[tuple[MessageAttachment, ...], Field(max_length=100), NoneAsEmpty] = ()
    thread_id: Id | None = None
    replied_to_message_id: Id | None = None


class SendMessage(_Message):
    """Sends a text message from the user.

    `from_number` defaults to the user's number; another one requires the permission `sms:send:others`. The message
    joins the conversation `thread_id`, which the service creates if it does not exist. Without a `thread_id`, the
    message joins the conversation with exactly these participants, or a new one. Fails without the permission (403).
    """

    operation: Literal["send_message"] = "send_message"
    to_numbers: Annotated[Phones, Field(min_length=1)]
    from_number: Phone | None = None


class ReceiveMessage(_Message):
    """Delivers a text message from somebody else to the user's phone.

    The message arrives at once, or at `sent_at` if that is in the future. `to_numbers` defaults to the user's number.
    The service generates the `message_id` by default. Fails if the id exists or the user blocks the sender
    (409).
    """

    operation: Literal["receive_message"] = "receive_message"
    from_number: Phone
    to_numbers: Annotated[Phones, NoneAsEmpty] = ()
    message_id: Id | None = None
    sent_at: Moment | None = None
    is_spam: bool = False


class _Selection(MessageSelection, SMSAction):
    """Base class of the requests for one or several messages."""

    nested: ClassVar[str] = "delete_data"


class MarkMessagesRead(_Selection):
    """Marks text messages as read. Ids that do not exist are left out."""

    operation: Literal["mark_read"] = "mark_read"


class MarkMessagesUnread(_Selection):
    """Marks text messages as unread and delivered. Ids that do not exist are left out."""

    operation: Literal["mark_unread"] = "mark_unread"


class DeleteMessages(_Selection):
    """Marks text messages as deleted. They keep their text. Ids that do not exist are left out."""

    operation: Literal["delete_message"] = "delete_message"


class AddReaction(SMSAction):
    """Adds a reaction to a text message, by default from the user's number.

    An empty `emoji` removes the reactions of the number instead. Another `phone_number` requires the permission
    `sms:receive`. Changes nothing if the message does not exist. Fails if it has this reaction from the number already
    (409).
    """

    nested: ClassVar[str] = "reaction_data"
    operation: Literal["add_reaction"] = "add_reaction"
    message_id: Id
    emoji: Annotated[str, Field(max_length=200)]
    phone_number: Phone | None = None


class RemoveReaction(SMSAction):
    """Removes a reaction from a text message. Changes nothing if the message or the reaction does not exist."""

    nested: ClassVar[str] = "reaction_data"
    operation: Literal["remove_reaction"] = "remove_reaction"
    message_id: Id
    reaction_id: Id


class EditMessage(SMSAction):
    """Replaces the text of a text message. Changes nothing if the message does not exist."""

    nested: ClassVar[str] = "edit_data"
    operation: Literal["edit_message"] = "edit_message"
    message_id: Id
    new_body: Text


class CreateGroup(SMSAction):
    """Creates a group conversation with the participants and the creator, by default the user.

    The service generates the `thread_id` by default. Fails if the id exists (409).
    """

    nested: ClassVar[str] = "group_data"
    operation: Literal["create_group"] = "create_group"
    participant_numbers: Annotated[Phones, Field(min_length=1)]
    group_name: Name | None = None
    creator_number: Phone | None = None
    thread_id: Id | None = None


class UpdateGroup(SMSAction):
    """Changes the name or the photo of a group conversation. Changes nothing if the conversation does not exist."""

    nested: ClassVar[str] = "group_data"
    operation: Literal["update_group"] = "update_group"
    thread_id: Id
    group_name: Name | None = None
    group_photo_url: Line | None = None


class _Participation(SMSAction):
    nested: ClassVar[str] = "participant_data"
    thread_id: Id
    phone_number: Phone


class AddParticipant(_Participation):
    """Adds a participant to a group conversation. Changes nothing if the conversation does not exist."""

    operation: Literal["add_participant"] = "add_participant"


class RemoveParticipant(_Participation):
    """Removes a participant from a group conversation. Changes nothing if the conversation does not exist."""

    operation: Literal["remove_participant"] = "remove_participant"


class LeaveGroup(SMSAction):
    """Removes the user from a group conversation. Changes nothing if the conversation does not exist."""

    nested: ClassVar[str] = "participant_data"
    operation: Literal["leave_group"] = "leave_group"
    thread_id: Id


class UpdateConversation(SMSAction):
    """Changes the given flags of a conversation, sets its draft, or marks all its messages as read.

    A `draft_message` of null deletes the draft. Changes nothing if the conversation does not exist.
    """

    nested: ClassVar[str] = "conversation_update_data"
    operation: Literal["update_conversation"] = "update_conversation"
    thread_id: Id
    pin: bool | None = None
    mute: bool | None = None
    archive: bool | None = None
    mark_all_read: bool = False
    draft_message: Text | None = None


class UpdateDeliveryStatus(SMSAction):
    """Sets the delivery status of a text message. `read` also marks the message as read.

    Changes nothing if the message does not exist.
    """

    nested: ClassVar[str] = "delivery_update_data"
    operation: Literal["update_delivery_status"] = "update_delivery_status"
    message_id: Id
    new_status: Literal["delivered", "failed", "read"]
