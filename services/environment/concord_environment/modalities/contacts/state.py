"""The rows and the table of the address book."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from concord_environment.core.tables import Table
from concord_environment.modalities.fields import Id, Line, Moment, Name, Text, phone_key


class ContactIdentifier(BaseModel):
    """A phone number, an email address or a handle of a contact."""

    model_config = ConfigDict(frozen=True)

    identifier_type: Name
    value: Annotated[str, Field(min_length=1, max_length=320)]
    label: Name | None = None


class PostalAddress(BaseModel):
    """A postal address of a contact."""

    model_config = ConfigDict(frozen=True)

    street: Line | None = None
    city: Line | None = None
    state: Line | None = None
    postal_code: Line | None = None
    country: Line | None = None
    label: Name | None = None


Identifiers = Annotated[tuple[ContactIdentifier, ...], Field(max_length=50)]
PostalAddresses = Annotated[tuple[PostalAddress, ...], Field(max_length=20)]
Groups = Annotated[tuple[Name, ...], Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact in the user's address book."""

    contact_id: Id
    created_at: Moment
    updated_at: Moment
    first_name: Name | None = None
    last_name: Name | None = None
    display_name: Name | None = None
    nickname: Name | None = None
    identifiers: Identifiers = ()
    company: Line | None = None
    job_title: Line | None = None
    addresses: PostalAddresses = ()
    birthday: date | None = None
    notes: Text | None = None
    photo_url: Line | None = None
    is_favorite: bool = False
    is_blocked: bool = False
    groups: Groups = ()

    @property
    def name(self) -> str:
        """The display name, else the full name, the nickname or the first identifier."""
        full = " ".join(filter(None, (self.first_name, self.last_name)))
        identifier = self.identifiers[0].value if self.identifiers else "Unknown"
        return self.display_name or full or self.nickname or identifier


FAVORITE = "favorite"
BLOCKED = "blocked"


def _flags(contact: Contact) -> tuple[str, ...]:
    favorite = (FAVORITE,) if contact.is_favorite else ()
    return (*favorite, BLOCKED) if contact.is_blocked else favorite


def _identifiers(contact: Contact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(identifier_key(identifier.value) for identifier in contact.identifiers))


def identifier_key(identifier: str) -> str:
    """The form in which identifiers compare: phone numbers without their spelling, all others without case."""
    return identifier.casefold() if any(map(str.isalpha, identifier)) else phone_key(identifier)


class ContactsState:
    """Contacts in the order of their names, with a lookup by phone number and email address."""

    def __init__(self) -> None:
        self.contacts: Table[Contact] = Table(
            "contacts.contacts",
            Contact,
            order=lambda contact: (contact.name.casefold(),),
            indexes={"group": lambda contact: tuple(dict.fromkeys(contact.groups)), "flag": _flags},
            lookups={"identifier": _identifiers},
        )

    @property
    def tables(self) -> tuple[Table[Contact]]:
        """The tables."""
        return (self.contacts,)

    def owner(self, identifier: str) -> Contact | None:
        """The contact with an email address or phone number, or None."""
        return next(iter(self.contacts.found("identifier", identifier_key(identifier))), None)

    def is_blocked(self, identifier: str) -> bool:
        """Whether the user blocks an email address or phone number."""
        contact = self.owner(identifier) if len(self.contacts) else None
        return contact is not None and contact.is_blocked
