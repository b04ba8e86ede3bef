"""The modality `contacts`: the user's address book."""

from typing import Any, Final

from pydantic import Field

from concord_environment.modalities.contacts.operations import CONTACTS_IMPLEMENTATIONS
from concord_environment.modalities.contacts.state import Contact, ContactsState
from concord_environment.modalities.contacts.views import CONTACTS_VIEWS
from concord_environment.modalities.documents import ScenarioForm, StateDocument, load_rows
from concord_environment.modalities.fields import Id
from concord_environment.modalities.modality import Modality
from concord_environment_client.modalities.contacts import ContactsCalls


class ContactsDocument(StateDocument):
    """The contacts of the address book."""

    contacts: dict[Id, Contact] = Field(default_factory=dict)


def _load(state: ContactsState, document: ContactsDocument) -> None:
    load_rows(state.contacts, document.contacts, "contact_id")


def _dump(state: ContactsState) -> dict[str, Any]:
    return {"contacts": dict(state.contacts.items())}


MODALITY: Final = Modality(
    calls=ContactsCalls,
    description="the user's address book",
    state=ContactsState,
    implementations=CONTACTS_IMPLEMENTATIONS,
    views=CONTACTS_VIEWS,
    scenario=ScenarioForm(ContactsDocument, _load, _dump),
)
