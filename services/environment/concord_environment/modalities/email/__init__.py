"""The modality `email`: the user's mailbox, with threads by the headers of RFC 5322."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from concord_environment.core.tables import Change
from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows, with_current_names
from concord_environment.modalities.email.operations import EMAIL_IMPLEMENTATIONS
from concord_environment.modalities.email.requests import EmailAction, ReceiveEmail, SendEmail
from concord_environment.modalities.email.state import FOLDERS, Email, EmailAccount, EmailState
from concord_environment.modalities.email.views import EMAIL_VIEWS
from concord_environment.modalities.fields import Address, Id, Name
from concord_environment.modalities.modality import ONLY_KEY, EventFacts, Modality, undone_change
from concord_environment_client.modalities.email import EmailCalls

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
    """The user's email address, the emails of the mailbox, and their ids by folder and by label.

    Of `folders` and `labels`, the service reads the names only: each email has its folder and its labels.
    """

    user_email_address: Address = "user@example.com"
    emails: Annotated[dict[Id, Email], BeforeValidator(_with_current_names)] = Field(default_factory=dict)
    folders: dict[Name, list[Id]] = Field(default_factory=dict)
    labels: dict[Name, list[Id]] = Field(default_factory=dict)


def _load(state: EmailState, document: EmailDocument) -> None:
    folders = tuple(name for name in document.folders if name not in FOLDERS)
    state.account.write(ONLY_KEY, EmailAccount(document.user_email_address, folders, tuple(document.labels)))
    load_rows(state.emails, document.emails, "message_id")


def _dump(state: EmailState) -> dict[str, Any]:
    return {
        "emails": dict(state.emails.items()),
        "user_email_address": state.address,
        "folders": {name: _ids(state, "folder", name) for name in state.folder_names},
        "labels": {name: _ids(state, "label", name) for name in state.label_names},
    }


def _ids(state: EmailState, index: str, name: str) -> list[str]:
    return [email.message_id for email in state.emails.group(index, name)]


_EVENT_DATA: Final[dict[str, Any]] = {
    **dict.fromkeys(
        (
            "message_id",
            "message_ids",
            "from_address",
            "to_addresses",
            "cc_addresses",
            "bcc_addresses",
            "reply_to_address",
            "subject",
            "body_text",
            "body_html",
            "attachments",
            "thread_id",
            "in_reply_to",
            "references",
            "folder",
            "labels",
        )
    ),
    "priority": "normal",
    "is_draft": False,
}


def _event_data(state: EmailState, action: EmailAction, facts: EventFacts) -> dict[str, Any]:
    """All fields of UES's email events. An executed event of a new email has its id and its thread."""
    data = {**_EVENT_DATA, **action.as_data()}
    if facts.is_executed and isinstance(action, SendEmail | ReceiveEmail):
        message_id = data["message_id"] = data["message_id"] or facts.row_id
        if (email := state.emails.get(message_id)) is not None:
            data["thread_id"] = email.thread_id
    return data


def _undo_action(state: EmailState, change: Change) -> str:
    """Names the thread too if the email is the only one in it."""
    if change.before is not None:
        return undone_change(state, change)
    others = [email for email in state.emails.found("thread", change.after.thread_id) if email is not change.after]
    return "remove_email" if others else "remove_email_and_thread"


MODALITY: Final = Modality(
    calls=EmailCalls,
    description="the user's mailbox",
    state=EmailState,
    implementations=EMAIL_IMPLEMENTATIONS,
    views=EMAIL_VIEWS,
    other_names={
        **{name: {"operation": "send"} for name in ("reply", "reply_all", "forward")},
        "mark_spam": {"operation": "move", "folder": "spam"},
        "mark_not_spam": {"operation": "move", "folder": "inbox"},
    },
    scenario=ScenarioForm(EmailDocument, _load, _dump),
    event_data=_event_data,
    undo_action=_undo_action,
)
