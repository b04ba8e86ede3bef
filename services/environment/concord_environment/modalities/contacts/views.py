"""Queries and views of the address book."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from concord_environment.modalities.contacts.state import Contact, ContactsState
from concord_environment.modalities.fields import Line, Name, Page
from concord_environment.modalities.json_parts import as_json
from concord_environment.modalities.modality import (
    QueryAnswer,
    StatePage,
    States,
    StateView,
    Views,
    answer_fields,
    view_fields,
)


class ContactsQuery(Page):
    """Finds contacts that match all given filters, sorted by name.

    `search_text` is a substring of a name, company, job title, note or identifier, and `identifier_value` a substring
    of an identifier, both in any case.
    """

    search_text: Line | None = None
    group: Name | None = None
    is_favorite: bool | None = None
    is_blocked: bool | None = None
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
        and (query.identifier_value or "").casefold() in identifier.value.casefold()
        for identifier in contact.identifiers
    )


class ContactsCounts(StateView):
    """The number of contacts, in all and by group."""

    total_contact_count: int
    groups: dict[str, int]


class ContactsStateView(ContactsCounts):
    """The contacts, sorted by name. `since` filters them by the time of the last update."""

    contacts: dict[str, Contact]
    returned_count: int
    has_more: bool


class ContactsBriefView(ContactsCounts):
    """The names of the first 50 contacts."""

    names: list[str]


class ContactsAnswer(QueryAnswer):
    """The contacts that match a query."""

    contacts: list[Contact]


def _counts(world: States, now: datetime) -> dict[str, object]:
    contacts = world[ContactsState].contacts
    groups = {group: contacts.group_size("group", group) for group in contacts.index_values("group")}
    return {**view_fields(world, "contacts", now), "total_contact_count": len(contacts), "groups": groups}


def _state(world: States, now: datetime, page: StatePage) -> ContactsStateView:
    contacts = world[ContactsState].contacts.window(page.first, page.stop)
    returned = [contact for contact in contacts if page.since is None or contact.updated_at >= page.since]
    return ContactsStateView.model_validate(
        {
            **_counts(world, now),
            "contacts": {contact.contact_id: contact for contact in returned},
            "returned_count": len(returned),
            "has_more": page.stop < len(world[ContactsState].contacts),
        }
    )


def _brief(world: States, now: datetime) -> ContactsBriefView:
    names = [contact.name for contact in world[ContactsState].contacts.window(0, 50)]
    return ContactsBriefView.model_validate({**_counts(world, now), "names": names})


def _answer(world: States, now: datetime, query: ContactsQuery) -> ContactsAnswer:  # noqa: ARG001 - one signature
    contacts, total = find_contacts(world[ContactsState], query)
    return ContactsAnswer.model_validate(
        {**answer_fields("contacts", query, len(contacts), total), "contacts": contacts}
    )


def _as_text(brief: ContactsBriefView) -> Iterable[str]:
    yield f"CONTACTS: {brief.total_contact_count}"


CONTACTS_VIEWS: Final = Views(
    as_json(_state),
    ContactsStateView,
    _brief,
    ContactsBriefView,
    ContactsQuery,
    as_json(_answer),
    ContactsAnswer,
    _as_text,
)
