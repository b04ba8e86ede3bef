"""What callers see of the address book."""

from datetime import datetime
from typing import Final

from concord_environment.modalities.contacts.queries import ContactsQuery, find_contacts
from concord_environment.modalities.contacts.records import Contact
from concord_environment.modalities.views import QueryAnswer, StatePage, StateView, Views, finding, heading
from concord_environment.modalities.world import EnvironmentWorld


class ContactsCounts(StateView):
    """How many contacts there are, and in which groups."""

    total_contact_count: int
    groups: dict[str, int]


class ContactsStateView(ContactsCounts):
    """A page of the contacts, by name."""

    contacts: dict[str, Contact]
    returned_count: int
    has_more: bool


class ContactsBriefView(ContactsCounts):
    """The names of the first contacts."""

    names: list[str]


class ContactsAnswer(QueryAnswer):
    """The contacts found."""

    contacts: list[Contact]


def _counts(world: EnvironmentWorld, now: datetime) -> dict[str, object]:
    contacts = world.contacts.contacts
    groups = {group: contacts.group_size("group", group) for group in contacts.words("group")}
    return {**heading(world, "contacts", now), "total_contact_count": len(contacts), "groups": groups}


def _state(world: EnvironmentWorld, now: datetime, page: StatePage) -> ContactsStateView:
    contacts = world.contacts.contacts.window(page.offset, page.stop)
    shown = [contact for contact in contacts if page.since is None or contact.updated_at >= page.since]
    return ContactsStateView.model_validate(
        {
            **_counts(world, now),
            "contacts": {contact.contact_id: contact for contact in shown},
            "returned_count": len(shown),
            "has_more": page.stop < len(world.contacts.contacts),
        }
    )


def _brief(world: EnvironmentWorld, now: datetime) -> ContactsBriefView:
    names = [contact.name for contact in world.contacts.contacts.window(0, 50)]
    return ContactsBriefView.model_validate({**_counts(world, now), "names": names})


def _answer(world: EnvironmentWorld, now: datetime, query: ContactsQuery) -> ContactsAnswer:  # noqa: ARG001 - one signature
    contacts, total = find_contacts(world.contacts, query)
    return ContactsAnswer.model_validate({**finding("contacts", query, len(contacts), total), "contacts": contacts})


CONTACTS_VIEWS: Final = Views(
    "contacts", _state, ContactsStateView, _brief, ContactsBriefView, ContactsQuery, _answer, ContactsAnswer
)
