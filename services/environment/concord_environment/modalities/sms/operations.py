"""The operations on text messages."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from concord_environment.core.faults import Conflict, Forbidden
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.contacts.state import ContactsState
from concord_environment.modalities.fields import distinct_phones, same_phone
from concord_environment.modalities.modality import AnyImplementation, Caller, Implementation, States
from concord_environment.modalities.sms import requests
from concord_environment.modalities.sms.state import (
    Conversation,
    Participant,
    Reaction,
    SMSMessage,
    SMSState,
    participants_key,
)
from concord_environment_client.modalities.sms import SMSCalls

SEND_FOR_OTHERS: Final = "sms:send:others"
_SPEAK_FOR_OTHERS: Final = SMSCalls.receive.permission
"""Who may deliver messages of others may also react for others, and edit what others wrote."""


def _bind_send(world: States, action: requests.SendMessage, caller: Caller) -> requests.SendMessage:
    own = world[SMSState].number
    number = _or_own(action.from_number, own)
    if number != own and not caller.may(SEND_FOR_OTHERS):
        raise Forbidden(f"from_number: this phone sends as {own} only; another sender requires '{SEND_FOR_OTHERS}'")
    return action.model_copy(update={"from_number": number})


def _or_own(number: str | None, own: str) -> str:
    """A number in its spelling, the user's own in that of the phone: who reads it may know no other."""
    return own if number is None or same_phone(number, own) else number


def _bind_reaction(world: States, action: requests.AddReaction, caller: Caller) -> requests.AddReaction:
    own = world[SMSState].number
    number = _or_own(action.phone_number, own)
    if number != own and not caller.may(_SPEAK_FOR_OTHERS):
        raise Forbidden(f"phone_number: a reaction from a number other than {own} requires '{_SPEAK_FOR_OTHERS}'")
    return action.model_copy(update={"phone_number": number})


def _bind_removal(world: States, action: requests.RemoveReaction, caller: Caller) -> requests.RemoveReaction:
    message = world[SMSState].messages.get(action.message_id)
    owners = {one.phone_number for one in message.reactions if one.reaction_id == action.reaction_id} if message else ()
    if any(not same_phone(owner, world[SMSState].number) for owner in owners) and not caller.may(_SPEAK_FOR_OTHERS):
        raise Forbidden(f"reaction_id: removing a reaction of somebody else requires '{_SPEAK_FOR_OTHERS}'")
    return action


def _bind_edit(world: States, action: requests.EditMessage, caller: Caller) -> requests.EditMessage:
    message = world[SMSState].messages.get(action.message_id)
    if message is not None and message.direction == "incoming" and not caller.may(_SPEAK_FOR_OTHERS):
        raise Forbidden(f"message_id: editing a message of {message.from_number} requires '{_SPEAK_FOR_OTHERS}'")
    return action


def _send(world: States, action: requests.SendMessage, transaction: Transaction) -> None:
    state = world[SMSState]
    own = action.from_number or state.number
    thread_id = _thread(state, action.thread_id, (own, *action.to_numbers), transaction)
    message = SMSMessage(
        message_id=transaction.new_id(),
        thread_id=thread_id,
        from_number=own,
        to_numbers=action.to_numbers,
        body=action.body,
        direction="outgoing",
        sent_at=transaction.now,
        message_type=action.message_type,
        attachments=_attachments(action, transaction),
        is_read=True,
        replied_to_message_id=action.replied_to_message_id,
    )
    transaction.put(state.messages, message.message_id, message)


def _receive(world: States, action: requests.ReceiveMessage, transaction: Transaction) -> None:
    state = world[SMSState]
    if world[ContactsState].is_blocked(action.from_number):
        raise Conflict(f"from_number: the user blocks {action.from_number}")
    message_id = action.message_id or transaction.new_id()
    if message_id in state.messages:
        raise Conflict(f"message {message_id} already exists")
    recipients = action.to_numbers or (state.number,)
    thread_id = _thread(state, action.thread_id, (action.from_number, *recipients), transaction)
    message = SMSMessage(
        message_id=message_id,
        thread_id=thread_id,
        from_number=action.from_number,
        to_numbers=recipients,
        body=action.body,
        direction="incoming",
        sent_at=transaction.now,
        message_type=action.message_type,
        attachments=_attachments(action, transaction),
        replied_to_message_id=action.replied_to_message_id,
        is_spam=action.is_spam,
    )
    transaction.put(state.messages, message.message_id, message)


def _attachments(action: requests._Message, transaction: Transaction) -> tuple[Any, ...]:
    return tuple(
        attachment.model_copy(update={"attachment_id": attachment.attachment_id or transaction.new_id()})
        for attachment in action.attachments
    )


def _thread(state: SMSState, thread_id: str | None, numbers: Iterable[str], transaction: Transaction) -> str:
    """The id of a message's conversation.

    A given id names the conversation, which is new if the id does not exist. Without an id, the conversation is the one
    with exactly these participants, or else a new one.
    """
    participants = distinct_phones(numbers)
    if thread_id is not None and thread_id in state.conversations:
        return thread_id
    if thread_id is None and (existing := state.conversations.found("participants", participants_key(participants))):
        return existing[0].thread_id
    conversation = Conversation(
        thread_id=thread_id or transaction.new_id(),
        conversation_type="group" if len(participants) > 2 else "one_on_one",
        participants=tuple(Participant(number, transaction.now) for number in participants),
        created_at=transaction.now,
    )
    transaction.put(state.conversations, conversation.thread_id, conversation)
    return conversation.thread_id


def _each(
    change: Callable[[SMSMessage, Transaction], SMSMessage],
) -> Callable[[States, Any, Transaction], None]:
    def apply(world: States, action: requests._Selection, transaction: Transaction) -> None:
        messages = world[SMSState].messages
        for message_id in action.ids:
            if (message := transaction.named(messages, message_id)) is not None:
                transaction.put(messages, message_id, change(message, transaction))

    return apply


def _read(message: SMSMessage, transaction: Transaction) -> SMSMessage:
    return replace(message, is_read=True, read_at=message.read_at or transaction.now)


def _unread(message: SMSMessage, transaction: Transaction) -> SMSMessage:
    delivered_at = message.delivered_at or transaction.now
    return replace(message, is_read=False, read_at=None, delivery_status="delivered", delivered_at=delivered_at)


def _deleted(message: SMSMessage, transaction: Transaction) -> SMSMessage:  # noqa: ARG001 - one signature for all
    return replace(message, is_deleted=True)


def _react(world: States, action: requests.AddReaction, transaction: Transaction) -> None:
    message = transaction.named(world[SMSState].messages, action.message_id)
    if message is None:
        return
    number = action.phone_number or world[SMSState].number
    own = [reaction for reaction in message.reactions if same_phone(reaction.phone_number, number)]
    if any(reaction.emoji == action.emoji for reaction in own):
        raise Conflict(f"{number} has already reacted to the message with {action.emoji}")
    if action.emoji:
        reactions = (
            *message.reactions,
            Reaction(transaction.new_id(), message.message_id, number, action.emoji, transaction.now),
        )
    else:
        reactions = tuple(reaction for reaction in message.reactions if reaction not in own)
    transaction.put(world[SMSState].messages, message.message_id, replace(message, reactions=reactions))


def _remove_reaction(world: States, action: requests.RemoveReaction, transaction: Transaction) -> None:
    message = transaction.named(world[SMSState].messages, action.message_id)
    if message is None:
        return
    reactions = tuple(reaction for reaction in message.reactions if reaction.reaction_id != action.reaction_id)
    if len(reactions) == len(message.reactions):
        transaction.ignored.append(action.reaction_id)
    transaction.put(world[SMSState].messages, message.message_id, replace(message, reactions=reactions))


def _edit(world: States, action: requests.EditMessage, transaction: Transaction) -> None:
    message = transaction.named(world[SMSState].messages, action.message_id)
    if message is not None:
        edited = replace(message, body=action.new_body, edited_at=transaction.now)
        transaction.put(world[SMSState].messages, message.message_id, edited)


def _create_group(world: States, action: requests.CreateGroup, transaction: Transaction) -> None:
    creator = action.creator_number or world[SMSState].number
    thread_id = action.thread_id or transaction.new_id()
    if thread_id in world[SMSState].conversations:
        raise Conflict(f"conversation {thread_id} already exists")
    numbers = distinct_phones((creator, *action.participant_numbers))
    conversation = Conversation(
        thread_id=thread_id,
        conversation_type="group",
        participants=tuple(
            Participant(number, transaction.now, is_admin=same_phone(number, creator)) for number in numbers
        ),
        created_at=transaction.now,
        created_by=creator,
        group_name=action.group_name,
    )
    transaction.put(world[SMSState].conversations, thread_id, conversation)


def _update_group(world: States, action: requests.UpdateGroup, transaction: Transaction) -> None:
    conversation = transaction.named(world[SMSState].conversations, action.thread_id)
    if conversation is not None:
        updated = replace(
            conversation,
            group_name=action.group_name or conversation.group_name,
            group_photo_url=action.group_photo_url or conversation.group_photo_url,
        )
        transaction.put(world[SMSState].conversations, updated.thread_id, updated)


def _add_participant(world: States, action: requests.AddParticipant, transaction: Transaction) -> None:
    conversation = transaction.named(world[SMSState].conversations, action.thread_id)
    if conversation is not None:
        others = _without(conversation, action.phone_number)
        participants = (*others, Participant(action.phone_number, transaction.now))
        updated = replace(conversation, participants=participants, conversation_type="group")
        transaction.put(world[SMSState].conversations, updated.thread_id, updated)


def _remove_participant(
    world: States, action: requests.RemoveParticipant | requests.LeaveGroup, transaction: Transaction
) -> None:
    number = action.phone_number if isinstance(action, requests.RemoveParticipant) else world[SMSState].number
    conversation = transaction.named(world[SMSState].conversations, action.thread_id)
    if conversation is not None:
        updated = replace(conversation, participants=_without(conversation, number))
        transaction.put(world[SMSState].conversations, updated.thread_id, updated)


def _without(conversation: Conversation, number: str) -> tuple[Participant, ...]:
    return tuple(
        participant for participant in conversation.participants if not same_phone(participant.phone_number, number)
    )


def _update_conversation(world: States, action: requests.UpdateConversation, transaction: Transaction) -> None:
    state = world[SMSState]
    conversation = transaction.named(state.conversations, action.thread_id)
    if conversation is None:
        return
    updated = replace(
        conversation,
        is_pinned=conversation.is_pinned if action.pin is None else action.pin,
        is_muted=conversation.is_muted if action.mute is None else action.mute,
        is_archived=conversation.is_archived if action.archive is None else action.archive,
        draft_message=action.draft_message
        if "draft_message" in action.model_fields_set
        else conversation.draft_message,
    )
    transaction.put(state.conversations, updated.thread_id, updated)
    if action.mark_all_read:
        for message in list(state.messages.group("flag", f"unread:{action.thread_id}")):
            transaction.put(state.messages, message.message_id, _read(message, transaction))


def _update_delivery_status(world: States, action: requests.UpdateDeliveryStatus, transaction: Transaction) -> None:
    message = transaction.named(world[SMSState].messages, action.message_id)
    if message is None:
        return
    at, status = transaction.now, action.new_status
    delivered_at = message.delivered_at or (at if status in ("delivered", "read") else None)
    updated = replace(message, delivery_status=status, delivered_at=delivered_at)
    if status == "read":
        updated = replace(updated, read_at=at, is_read=True)
    transaction.put(world[SMSState].messages, message.message_id, updated)


SMS_IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = (
    Implementation(SMSCalls.send, requests.SendMessage, _send, _bind_send),
    Implementation(SMSCalls.receive, requests.ReceiveMessage, _receive),
    Implementation(SMSCalls.mark_read, requests.MarkMessagesRead, _each(_read)),
    Implementation(SMSCalls.mark_unread, requests.MarkMessagesUnread, _each(_unread)),
    Implementation(SMSCalls.delete, requests.DeleteMessages, _each(_deleted)),
    Implementation(SMSCalls.react, requests.AddReaction, _react, _bind_reaction),
    Implementation(SMSCalls.remove_reaction, requests.RemoveReaction, _remove_reaction, _bind_removal),
    Implementation(SMSCalls.edit, requests.EditMessage, _edit, _bind_edit),
    Implementation(SMSCalls.create_group, requests.CreateGroup, _create_group),
    Implementation(SMSCalls.update_group, requests.UpdateGroup, _update_group),
    Implementation(SMSCalls.add_participant, requests.AddParticipant, _add_participant),
    Implementation(SMSCalls.remove_participant, requests.RemoveParticipant, _remove_participant),
    Implementation(SMSCalls.leave_group, requests.LeaveGroup, _remove_participant),
    Implementation(SMSCalls.update_conversation, requests.UpdateConversation, _update_conversation),
    Implementation(SMSCalls.update_delivery, requests.UpdateDeliveryStatus, _update_delivery_status),
)
