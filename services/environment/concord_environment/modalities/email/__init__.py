"""The modality `email`: the user's mailbox, with threads by the headers of RFC 5322."""

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
"""Maps the field names of emails in older scenario files to the current names."""


def _with_current_names(value: object) -> object:
    return with_current_names(value, "message_id", _OLD_NAMES, _with_times_and_thread)


def _with_times_and_thread(email: dict[str, Any]) -> dict[str, Any]:
    at = email.get("received_at") or email.get("sent_at") or email.get("timestamp")
    times = {"sent_at": email.get("sent_at") or at, "received_at": email.get("received_at") or at}
    return {"thread_id": email["message_id"], **email, **times}


class EmailDocument(StateDocument):
    """The user's email address, and the emails of the mailbox."""

    user_email_address: Address = "user@example.com"
    emails: Annotated[dict[Id, Email], BeforeValidator(_with_current_names)] = Field(default_factory=dict)


def _load(state: EmailState, document: EmailDocument) -> None:
    state.account.write(ONLY_KEY, EmailAccount(document.user_email_address))
    load_rows(state.emails, document.emails, "message_id")


def _dump(state: EmailState) -> dict[str, Any]:
    return {"emails": dict(state.emails.items()), "user_email_address": state.address}


MODALITY: Final = Modality(
    name="email",
    description="the user's mailbox",
    state=EmailState,
    operations=EMAIL_OPERATIONS,
    views=EMAIL_VIEWS,
    scenario=ScenarioForm(EmailDocument, _load, _dump),
)
