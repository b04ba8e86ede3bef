"""The modality `email`: the user's mailbox, with threads by RFC 5322."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows, with_current_names
from concord_environment.modalities.email.operations import EMAIL_OPERATIONS
from concord_environment.modalities.email.state import Email, EmailAccount, EmailState
from concord_environment.modalities.email.views import EMAIL_VIEWS
from concord_environment.modalities.fields import Address, Id
from concord_environment.modalities.modality import ONLY_KEY, Modality

_OLD_NAMES: Final = {
    "email_id": "message_id",
    "folder_id": "folder",
    "from": "from_address",
    "to": "to_addresses",
    "cc": "cc_addresses",
    "bcc": "bcc_addresses",
    "body": "body_text",
    "is_flagged": "is_starred",
}
"""The names of a mail's fields in older scenario files, and the current names."""


def _mails(value: object) -> object:
    return with_current_names(value, "message_id", _OLD_NAMES, _with_times_and_thread)


def _with_times_and_thread(mail: dict[str, Any]) -> dict[str, Any]:
    at = mail.get("received_at") or mail.get("sent_at") or mail.get("timestamp")
    times = {"sent_at": mail.get("sent_at") or at, "received_at": mail.get("received_at") or at}
    return {"thread_id": mail["message_id"], **mail, **times}


class EmailDocument(StateDocument):
    """The mailbox."""

    user_email_address: Address = "user@example.com"
    emails: Annotated[dict[Id, Email], BeforeValidator(_mails)] = Field(default_factory=dict)


def _load(state: EmailState, document: EmailDocument) -> None:
    state.account.write(ONLY_KEY, EmailAccount(document.user_email_address))
    load_rows(state.emails, document.emails, "message_id")


def _dump(state: EmailState) -> dict[str, Any]:
    return {"emails": dict(state.emails.items()), "user_email_address": state.address}


MODALITY: Final = Modality(
    name="email",
    state=EmailState,
    operations=EMAIL_OPERATIONS,
    views=EMAIL_VIEWS,
    scenario=ScenarioForm(EmailDocument, _load, _dump),
)
