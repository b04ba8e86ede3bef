"""The table of an address book."""

from concord_environment.core.tables import Table
from concord_environment.modalities.contacts.records import Contact


def _identifiers(contact: Contact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(identifier.value.casefold() for identifier in contact.identifiers))


class ContactsState:
    """Contacts, found by what they can be reached at."""

    def __init__(self) -> None:
        self.contacts: Table[Contact] = Table(
            "contacts.contacts",
            Contact,
            order=lambda contact: (contact.name.casefold(),),
            indexes={"group": lambda contact: tuple(dict.fromkeys(contact.groups))},
            lookups={"identifier": _identifiers},
        )

    @property
    def tables(self) -> tuple[Table[Contact]]:
        """Its tables."""
        return (self.contacts,)

    def owner(self, identifier: str) -> Contact | None:
        """Who can be reached at an address or a number."""
        return next(iter(self.contacts.found("identifier", identifier.casefold())), None)

    def is_blocked(self, identifier: str) -> bool:
        """Whether what comes from an address or a number is unwanted."""
        contact = self.owner(identifier) if len(self.contacts) else None
        return contact is not None and contact.is_blocked
