"""What can be done in the address book, as it is asked for."""

from datetime import date
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from concord_environment.core.actions import Action
from concord_environment.modalities.contacts.records import Groups, Identifiers, PostalAddresses
from concord_environment.modalities.fields import Absent, Id, Line, Name, Text


class ContactsAction(Action):
    """Anything done in the address book."""

    modality: ClassVar[str] = "contacts"


class _Person(ContactsAction):
    first_name: Name | None = None
    last_name: Name | None = None
    display_name: Name | None = None
    nickname: Name | None = None
    company: Line | None = None
    job_title: Line | None = None
    birthday: date | None = None
    notes: Text | None = None
    photo_url: Line | None = None


class CreateContact(_Person):
    """Takes somebody into the address book."""

    operation: Literal["create_contact"] = "create_contact"
    contact_id: Id | None = None
    identifiers: Annotated[Identifiers, Field(min_length=1)]
    addresses: Annotated[PostalAddresses, Absent] = ()
    groups: Annotated[Groups, Absent] = ()
    is_favorite: bool = False
    is_blocked: bool = False


class UpdateContact(_Person):
    """Changes what is given; lists as a whole, or by what is added to them."""

    operation: Literal["update_contact"] = "update_contact"
    contact_id: Id
    identifiers: Annotated[Identifiers | None, Field(min_length=1)] = None
    add_identifiers: Annotated[Identifiers, Absent] = ()
    addresses: PostalAddresses | None = None
    groups: Groups | None = None
    add_groups: Annotated[Groups, Absent] = ()
    remove_groups: Annotated[Groups, Absent] = ()
    is_favorite: bool | None = None
    is_blocked: bool | None = None


class _OneContact(ContactsAction):
    contact_id: Id


class DeleteContact(_OneContact):
    """Takes somebody out of the address book."""

    operation: Literal["delete_contact"] = "delete_contact"


class BlockContact(_OneContact):
    """Blocks everything that comes from somebody."""

    operation: Literal["block_contact"] = "block_contact"


class UnblockContact(_OneContact):
    """Lets in again what comes from somebody."""

    operation: Literal["unblock_contact"] = "unblock_contact"
