"""The requests of the operations on text messages."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from concord_environment.core.actions import Action
from concord_environment.modalities.fields import Id, Moment, Name, NoneAsEmpty, Phone, Phones, Text
from concord_environment.modalities.message_selection import MessageSelection
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
    """Base class of the requests for text messages."""

    modality: ClassVar[str] = "sms"

    @model_validator(mode="before")
    @classmethod
    def _unnest(cls, data: Any) -> Any:  # noqa: ANN401 - any JSON value
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
    """Sends a text message from the user.

    `from_number` defaults to the user's number and cannot be another number. The message joins the conversation
    `thread_id`, which the service creates if it does not exist. Without a `thread_id`, the message joins the
    conversation with exactly these participants, or a new one. Fails for another `from_number` (403).
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


class MarkMessagesRead(_Selection):
    """Marks text messages as read. Fails without changes if a message does not exist (404)."""

    operation: Literal["mark_read"] = "mark_read"


class MarkMessagesUnread(_Selection):
    """Marks text messages as unread. Fails without changes if a message does not exist (404)."""

    operation: Literal["mark_unread"] = "mark_unread"


class DeleteMessages(_Selection):
    """Deletes text messages. Deleted messages lose text, attachments and reactions, and stay in the state as deleted.

    Fails without changes if a message does not exist (404).
    """

    operation: Literal["delete_message"] = "delete_message"


class AddReaction(SMSAction):
    """Adds a reaction to a text message, by default from the user's number.

    Another `phone_number` requires the permission `sms:receive`. Fails if the message does not exist (404), or if it
    has this reaction from the number already (409).
    """

    operation: Literal["add_reaction"] = "add_reaction"
    message_id: Id
    emoji: Name
    phone_number: Phone | None = None


class CreateGroup(SMSAction):
    """Creates a group conversation with the participants and the creator, by default the user.

    The service generates the `thread_id` by default. Fails if the id exists (409).
    """

    operation: Literal["create_group"] = "create_group"
    participant_numbers: Annotated[Phones, Field(min_length=1)]
    group_name: Name | None = None
    creator_number: Phone | None = None
    thread_id: Id | None = None


class UpdateConversation(SMSAction):
    """Changes the given flags of a conversation, sets its draft, or marks all its messages as read.

    A `draft_message` of null deletes the draft. Fails if the conversation does not exist (404).
    """

    operation: Literal["update_conversation"] = "update_conversation"
    thread_id: Id
    pin: bool | None = None
    mute: bool | None = None
    archive: bool | None = None
    mark_all_read: bool = False
    draft_message: Text | None = None


class UpdateDeliveryStatus(SMSAction):
    """Sets the delivery status of a text message. `read` also marks the message as read.

    Fails if the message does not exist (404).
    """

    operation: Literal["update_delivery_status"] = "update_delivery_status"
    message_id: Id
    new_status: Literal["delivered", "failed", "read"]
