"""Looking for contacts: by name, group, number or address."""

from concord_environment.modalities.contacts.records import Contact
from concord_environment.modalities.contacts.state import ContactsState
from concord_environment.modalities.fields import Line, Name, Page


class ContactsQuery(Page):
    """Every filter that is given has to hold."""

    search_text: Line | None = None
    group: Name | None = None
    is_favorite: bool | None = None
    is_blocked: bool | None = None
    identifier_type: Name | None = None
    identifier_value: Line | None = None


def find_contacts(state: ContactsState, query: ContactsQuery) -> tuple[list[Contact], int]:
    """The page of contacts that a query asks for, by name, and how many there are in all."""
    candidates = state.contacts.rows() if query.group is None else state.contacts.group("group", query.group)
    found = [contact for contact in candidates if _fits(contact, query)]
    return found[query.first : query.stop], len(found)


def _fits(contact: Contact, query: ContactsQuery) -> bool:
    if query.is_favorite is not None and contact.is_favorite != query.is_favorite:
        return False
    if query.is_blocked is not None and contact.is_blocked != query.is_blocked:
        return False
    if (query.identifier_type or query.identifier_value) and not _has_identifier(contact, query):
        return False
    if query.search_text is None:
        return True
    values = " ".join(identifier.value for identifier in contact.identifiers)
    words = (contact.name, contact.nickname, contact.company, contact.job_title, contact.notes, values)
    return query.search_text.casefold() in "\n".join(filter(None, words)).casefold()


def _has_identifier(contact: Contact, query: ContactsQuery) -> bool:
    return any(
        query.identifier_type in (None, identifier.identifier_type)
        and (query.identifier_value or "").casefold() in identifier.value.casefold()
        for identifier in contact.identifiers
    )
