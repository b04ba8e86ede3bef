"""Queries and views of the address book."""

from collections.abc import Iterable
from datetime import datetime
from heapq import nlargest
from typing import Final

from pydantic import BaseModel

from concord_environment.modalities.contacts.state import (
    BLOCKED,
    FAVORITE,
    Contact,
    ContactsState,
    identifier_key,
)
from concord_environment.modalities.fields import Line, Name, Page
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    view_fields,
)

RECENT: Final = 10
"""The number of contacts in the compact state that were updated last."""


class ContactsQuery(Page):
    """Finds contacts that match all given filters, sorted by name.

    `search_text` is a substring of a name, company, job title, note or identifier, and `identifier_value` a substring
    of an identifier, both in any case. A phone number is found in any spelling. `has_phone` and `has_email` say
    whether a contact has such an identifier.
    """

    search_text: Line | None = None
    group: Name | None = None
    is_favorite: bool | None = None
    is_blocked: bool | None = None
    has_phone: bool | None = None
    has_email: bool | None = None
    identifier_type: Name | None = None
    identifier_value: Line | None = None


def find_contacts(state: ContactsState, query: ContactsQuery) -> tuple[list[Contact], int]:
    """The page of contacts that match a query, by name, and the number of all matches."""
    candidates = state.contacts.rows() if query.group is None else state.contacts.group("group", query.group)
    found = [contact for contact in candidates if _matches(contact, query)]
    return found[query.first : query.stop], len(found)


def _matches(contact: Contact, query: ContactsQuery) -> bool:
    if query.is_favorite is not None and contact.is_favorite != query.is_favorite:
        return False
    if query.is_blocked is not None and contact.is_blocked != query.is_blocked:
        return False
    kinds = {identifier.identifier_type for identifier in contact.identifiers}
    if query.has_phone is not None and ("phone" in kinds) != query.has_phone:
        return False
    if query.has_email is not None and ("email" in kinds) != query.has_email:
        return False
    if (query.identifier_type or query.identifier_value) and not _has_identifier(contact, query):
        return False
    if query.search_text is None:
        return True
    values = " ".join(identifier.value for identifier in contact.identifiers)
    texts = (contact.name, contact.nickname, contact.company, contact.job_title, contact.notes, values)
    return query.search_text.casefold() in "\n".join(filter(None, texts)).casefold()


def _has_identifier(contact: Contact, query: ContactsQuery) -> bool:
    return any(
        query.identifier_type in (None, identifier.identifier_type)
        and _has_value(identifier.value, query.identifier_value)
        for identifier in contact.identifiers
    )


def _has_value(identifier: str, wanted: str | None) -> bool:
    if wanted is None:
        return True
    return wanted.casefold() in identifier.casefold() or identifier_key(wanted) == identifier_key(identifier)


class ContactsCounts(StateView):
    """The numbers of contacts."""

    total_contact_count: int
    favorites_count: int
    blocked_count: int


class ContactsStateView(ContactsCounts):
    """The contacts, sorted by name, and the names of their groups. `since` filters by the time of the last update."""

    total_count: int
    groups: list[str]
    contacts: dict[str, Contact]
    returned_count: int
    has_more: bool


class ContactName(BaseModel):
    """A contact by its name."""

    contact_id: str
    name: str


class ContactsBriefView(ContactsCounts):
    """The names of the first 50 contacts, the 10 that were updated last, and the numbers of contacts by group."""

    total_contacts: int
    groups: dict[str, int]
    names: list[str]
    recent_contacts: list[ContactName]


class ContactsAnswer(QueryAnswer):
    """The contacts that match a query."""

    contacts: list[Contact]


def _counts(world: States, now: datetime) -> dict[str, object]:
    contacts = world[ContactsState].contacts
    return {
        **view_fields(world, "contacts", now),
        "total_contact_count": len(contacts),
        "favorites_count": contacts.group_size("flag", FAVORITE),
        "blocked_count": contacts.group_size("flag", BLOCKED),
    }


def _state(world: States, now: datetime, page: StatePage) -> ContactsStateView:
    contacts = world[ContactsState].contacts.window(page.first, page.stop)
    returned = [contact for contact in contacts if page.since is None or contact.updated_at >= page.since]
    return ContactsStateView.model_validate(
        {
            **_counts(world, now),
            "total_count": len(world[ContactsState].contacts),
            "groups": world[ContactsState].contacts.index_values("group"),
            "contacts": {contact.contact_id: contact for contact in returned},
            "returned_count": len(returned),
            "has_more": page.stop < len(world[ContactsState].contacts),
        }
    )


def _brief(world: States, now: datetime) -> ContactsBriefView:
    contacts = world[ContactsState].contacts
    recent = nlargest(RECENT, contacts.rows(), key=lambda contact: contact.updated_at)
    return ContactsBriefView.model_validate(
        {
            **_counts(world, now),
            "total_contacts": len(contacts),
            "groups": {group: contacts.group_size("group", group) for group in contacts.index_values("group")},
            "names": [contact.name for contact in contacts.window(0, 50)],
            "recent_contacts": [ContactName(contact_id=each.contact_id, name=each.name) for each in recent],
        }
    )


def _find(world: States, now: datetime, query: ContactsQuery) -> tuple[list[Contact], int]:  # noqa: ARG001 - one signature
    return find_contacts(world[ContactsState], query)


def _as_text(brief: ContactsBriefView) -> Iterable[str]:
    yield f"CONTACTS: {brief.total_contact_count}"


CONTACTS_VIEWS: Final = Views(
    _state,
    ContactsStateView,
    _brief,
    ContactsBriefView,
    ContactsQuery,
    _find,
    ContactsAnswer,
    _as_text,
)
