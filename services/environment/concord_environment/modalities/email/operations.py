"""The operations of the mailbox, and the import of emails."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

from concord_environment.core.faults import Conflict, Forbidden
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.contacts.state import ContactsState
from concord_environment.modalities.email import requests
from concord_environment.modalities.email.state import FOLDERS, MAX_NAMES, Attachment, Email, EmailState
from concord_environment.modalities.email.threading import Headers, find_thread, references_for
from concord_environment.modalities.fields import same_address
from concord_environment.modalities.modality import ONLY_KEY, AnyImplementation, Caller, Implementation, States
from concord_environment_client.modalities.email import EmailCalls

S = TypeVar("S", bound=requests._Selection)

SEND_FOR_OTHERS: Final = "email:send:others"


def _bind_send(world: States, action: requests.SendEmail, caller: Caller) -> requests.SendEmail:
    own = world[EmailState].address
    if action.from_address is None or same_address(action.from_address, own):
        return action.model_copy(update={"from_address": own})
    if not caller.may(SEND_FOR_OTHERS):
        raise Forbidden(f"from_address: this mailbox sends as {own} only; another sender requires '{SEND_FOR_OTHERS}'")
    return action


def _send(world: States, action: requests.SendEmail, transaction: Transaction) -> None:
    state, sender = world[EmailState], action.from_address or world[EmailState].address
    sent = _file(state, action, transaction, Envelope(transaction.new_id(), sender, "sent", is_read=True))
    recipients = (*action.to_addresses, *action.cc_addresses, *action.bcc_addresses)
    if any(same_address(recipient, state.address) for recipient in recipients):
        # The incoming copy is a separate row with its own id, in the same thread.
        copy = action.model_dump(exclude={"operation", "bcc_addresses", "from_address"})
        incoming = {**copy, "from_address": sender, "thread_id": sent.thread_id, "in_reply_to": sent.in_reply_to}
        transaction.cause(requests.ReceiveEmail.model_validate(incoming))


def _receive(world: States, action: requests.ReceiveEmail, transaction: Transaction) -> None:
    state = world[EmailState]
    message_id = action.message_id or transaction.new_id()
    if message_id in state.emails:
        raise Conflict(f"email {message_id} already exists")
    folder = (
        "spam" if action.folder == "inbox" and world[ContactsState].is_blocked(action.from_address) else action.folder
    )
    labels = tuple(dict.fromkeys(action.labels))
    envelope = Envelope(message_id, action.from_address, folder, action.is_read, labels, action.sent_at)
    _file(state, action, transaction, envelope)
    _keep_names(state, transaction, folder=folder, labels=labels)


class Envelope(NamedTuple):
    """The fields of an email that sending and receiving set in different ways."""

    message_id: str
    sender: str
    folder: str
    is_read: bool
    labels: tuple[str, ...] = ()
    sent_at: datetime | None = None


def _file(
    state: EmailState,
    action: requests.SendEmail | requests.ReceiveEmail,
    transaction: Transaction,
    envelope: Envelope,
) -> Email:
    """Adds an email to its folder and its thread."""
    now, message_id = transaction.now, envelope.message_id
    parent = None if action.in_reply_to is None else state.emails.get(action.in_reply_to)
    references = action.references or (references_for(parent) if parent else ())
    sent_at = now if envelope.sent_at is None else min(envelope.sent_at, now)
    participants = (envelope.sender, *action.to_addresses, *action.cc_addresses)
    headers = Headers(message_id, action.in_reply_to, references, action.subject, sent_at, participants)
    email = Email(
        message_id=message_id,
        thread_id=action.thread_id or find_thread(state, headers, transaction),
        from_address=envelope.sender,
        to_addresses=action.to_addresses,
        subject=action.subject,
        sent_at=sent_at,
        received_at=now,
        body_text=action.body_text,
        body_html=action.body_html,
        cc_addresses=action.cc_addresses,
        bcc_addresses=action.bcc_addresses,
        reply_to_address=action.reply_to_address,
        attachments=tuple([_with_id(attachment, transaction) for attachment in action.attachments]),
        in_reply_to=action.in_reply_to,
        references=references,
        is_read=envelope.is_read,
        priority=action.priority,
        folder=envelope.folder,
        labels=envelope.labels,
    )
    transaction.put(state.emails, message_id, email)
    return email


def _with_id(attachment: Attachment, transaction: Transaction) -> Attachment:
    if attachment.attachment_id is not None:
        return attachment
    return attachment.model_copy(update={"attachment_id": transaction.new_id()})


def _keep_names(
    state: EmailState, transaction: Transaction, *, folder: str | None = None, labels: Sequence[str] = ()
) -> None:
    """Keeps the names of new folders and labels, so that they stay when they have no emails."""
    if (folder is None or folder in FOLDERS) and not labels:
        return
    account = state.current_account
    folders = account.folders if folder is None or folder in FOLDERS else _with_names(account.folders, [folder])
    kept = replace(account, folders=folders, labels=_with_names(account.labels, labels))
    if kept != account:
        transaction.put(state.account, ONLY_KEY, kept)


def _with_names(names: tuple[str, ...], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *more)))[:MAX_NAMES]


def _move(world: States, action: requests.Move, transaction: Transaction) -> None:
    _keep_names(world[EmailState], transaction, folder=action.folder)
    _each(lambda email, _: replace(email, folder=action.folder))(world, action, transaction)


def _label(world: States, action: requests.AddLabel, transaction: Transaction) -> None:
    _keep_names(world[EmailState], transaction, labels=action.labels)
    _each(_labelled)(world, action, transaction)


def _each(change: Callable[[Email, S], Email]) -> Callable[[States, S, Transaction], None]:
    def apply(world: States, action: S, transaction: Transaction) -> None:
        for email in _selected(world[EmailState], action, transaction):
            changed = change(email, action)
            if changed != email:
                transaction.put(world[EmailState].emails, email.message_id, changed)

    return apply


def _selected(state: EmailState, action: requests._Selection, transaction: Transaction) -> list[Email]:
    """The selected emails that exist."""
    named = (transaction.named(state.emails, message_id) for message_id in action.ids)
    return [email for email in named if email is not None]


def _delete(world: States, action: requests.Delete, transaction: Transaction) -> None:
    for email in _selected(world[EmailState], action, transaction):
        if email.folder == "trash":
            transaction.drop(world[EmailState].emails, email.message_id)
        else:
            transaction.put(world[EmailState].emails, email.message_id, replace(email, folder="trash"))


def _labelled(email: Email, action: requests.AddLabel) -> Email:
    return replace(email, labels=tuple(dict.fromkeys((*email.labels, *action.labels))))


def _unlabelled(email: Email, action: requests.RemoveLabel) -> Email:
    return replace(email, labels=tuple(label for label in email.labels if label not in action.labels))


EMAIL_IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = (
    Implementation(EmailCalls.send, requests.SendEmail, _send, _bind_send),
    Implementation(EmailCalls.receive, requests.ReceiveEmail, _receive),
    Implementation(EmailCalls.mark_read, requests.MarkRead, _each(lambda email, _: replace(email, is_read=True))),
    Implementation(EmailCalls.mark_unread, requests.MarkUnread, _each(lambda email, _: replace(email, is_read=False))),
    Implementation(EmailCalls.star, requests.Star, _each(lambda email, _: replace(email, is_starred=True))),
    Implementation(EmailCalls.unstar, requests.Unstar, _each(lambda email, _: replace(email, is_starred=False))),
    Implementation(EmailCalls.archive, requests.Archive, _each(lambda email, _: replace(email, folder="archive"))),
    Implementation(EmailCalls.delete, requests.Delete, _delete),
    Implementation(EmailCalls.add_labels, requests.AddLabel, _label),
    Implementation(EmailCalls.remove_labels, requests.RemoveLabel, _each(_unlabelled)),
    Implementation(EmailCalls.move, requests.Move, _move),
)
