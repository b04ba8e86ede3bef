"""An operation that the service does not have, complete in this module: an email can be pinned."""

from dataclasses import replace
from typing import Final, Literal

from concord_environment.core.transaction import Transaction
from concord_environment.modalities import email
from concord_environment.modalities.email.requests import EmailAction
from concord_environment.modalities.email.state import EmailState
from concord_environment.modalities.fields import Id
from concord_environment.modalities.modality import Implementation, Modality, States
from concord_environment_client.endpoints import S
from concord_environment_client.modalities.email import EmailCalls
from concord_environment_client.operations import TEXT, Operation, Tool, changes


class PinningCalls(EmailCalls[S]):
    """The user's mailbox, in which emails can be pinned."""

    pin_email = Operation("/email/pin", "pin", changes("labels"), Tool("Pins an email.", {"message_id": TEXT}))


class Pin(EmailAction):
    """Pins an email."""

    operation: Literal["pin"] = "pin"
    message_id: Id


def _pin(world: States, action: Pin, transaction: Transaction) -> None:
    emails = world[EmailState].emails
    if (pinned := emails.get(action.message_id)) is not None:
        transaction.put(emails, pinned.message_id, replace(pinned, labels=(*pinned.labels, "pinned")))


MODALITY: Final[Modality[EmailState]] = replace(
    email.MODALITY,
    calls=PinningCalls,
    implementations=(*email.MODALITY.implementations, Implementation(PinningCalls.pin_email, Pin, _pin)),
)
