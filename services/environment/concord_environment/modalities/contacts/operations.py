"""The operations of the address book and their requests."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from concord_environment.core.actions import Action
from concord_environment.core.faults import Conflict, NotFound
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.contacts.state import Contact, ContactsState, Groups, Identifiers, PostalAddresses
from concord_environment.modalities.fields import Id, Line, Name, NoneAsEmpty, Text
from concord_environment.modalities.modality import AnyImplementation, Implementation, States
from concord_environment_client.modalities.contacts import ContactsCalls


class ContactsAction(Action):
    """Base class of the requests of the address book."""

    modality: ClassVar[str] = "contacts"


class _ContactFields(ContactsAction):
    first_name: Name | None = None
    last_name: Name | None = None
    display_name: Name | None = None
    nickname: Name | None = None
    company: Line | None = None
    job_title: Line | None = None
    birthday: date | None = None
    notes: Text | None = None
    photo_url: Line | None = None


class CreateContact(_ContactFields):
    """Creates a contact in the address book.

    `identifiers` are the phone numbers, email addresses and handles of the contact. The service generates the
    `contact_id` by default. Fails if the id exists or another contact has one of the identifiers (409).
    """

    operation: Literal["create_contact"] = "create_contact"
    contact_id: Id | None = None
    identifiers: Annotated[Identifiers, Field(min_length=1)]
    addresses: Annotated[PostalAddresses, NoneAsEmpty] = ()
    groups: Annotated[Groups, NoneAsEmpty] = ()
    is_favorite: bool = False
    is_blocked: bool = False


class UpdateContact(_ContactFields):
    """Changes the given fields of a contact.

    `identifiers`, `addresses` and `groups` replace the whole list; `add_identifiers`, `add_groups` and `remove_groups`
    change single items. Null clears text fields and the birthday. Fails if the contact does not exist (404), or if
    another contact has one of the identifiers (409).
    """

    operation: Literal["update_contact"] = "update_contact"
    contact_id: Id
    identifiers: Annotated[Identifiers | None, Field(min_length=1)] = None
    add_identifiers: Annotated[Identifiers, NoneAsEmpty] = ()
    addresses: PostalAddresses | None = None
    groups: Groups | None = None
    add_groups: Annotated[Groups, NoneAsEmpty] = ()
    remove_groups: Annotated[Groups, NoneAsEmpty] = ()
    is_favorite: bool | None = None
    is_blocked: bool | None = None


class _ContactReference(ContactsAction):
    contact_id: Id


class DeleteContact(_ContactReference):
    """Deletes a contact from the address book. Fails if the contact does not exist (404)."""

    operation: Literal["delete_contact"] = "delete_contact"


class BlockContact(_ContactReference):
    """Blocks a contact: new emails go to the spam folder, and new text messages are rejected.

    Fails if the contact does not exist (404).
    """

    operation: Literal["block_contact"] = "block_contact"


class UnblockContact(_ContactReference):
    """Unblocks a contact. Fails if the contact does not exist (404)."""

    operation: Literal["unblock_contact"] = "unblock_contact"


_SPECIAL: Final = frozenset({"operation", "contact_id", "add_identifiers", "add_groups", "remove_groups"})
_LISTS_AND_FLAGS: Final = frozenset({"identifiers", "addresses", "groups", "is_favorite", "is_blocked"})


def _create(world: States, action: CreateContact, transaction: Transaction) -> None:
    contact_id = action.contact_id or transaction.new_id()
    if contact_id in world[ContactsState].contacts:
        raise Conflict(f"contact {contact_id} already exists")
    given = {name: getattr(action, name) for name in type(action).model_fields if name != "operation"}
    contact = Contact(**{**given, "contact_id": contact_id}, created_at=transaction.now, updated_at=transaction.now)
    _put(world[ContactsState], contact, transaction)


def _update(world: States, action: UpdateContact, transaction: Transaction) -> None:
    contact = _existing(world[ContactsState], action.contact_id)
    given = {name: getattr(action, name) for name in action.model_fields_set - _SPECIAL}
    changes = {name: value for name, value in given.items() if value is not None or name not in _LISTS_AND_FLAGS}
    updated = replace(contact, **changes, updated_at=transaction.now)
    groups = dict.fromkeys((*updated.groups, *action.add_groups))
    identifiers = dict.fromkeys((*updated.identifiers, *action.add_identifiers))
    kept = tuple(group for group in groups if group not in action.remove_groups)
    _put(world[ContactsState], replace(updated, groups=kept, identifiers=tuple(identifiers)), transaction)


def _delete(world: States, action: DeleteContact, transaction: Transaction) -> None:
    transaction.drop(world[ContactsState].contacts, _existing(world[ContactsState], action.contact_id).contact_id)


def _block(blocked: bool) -> Callable[[States, Any, Transaction], None]:
    def apply(world: States, action: _ContactReference, transaction: Transaction) -> None:
        contact = _existing(world[ContactsState], action.contact_id)
        changed = replace(contact, is_blocked=blocked, updated_at=transaction.now)
        transaction.put(world[ContactsState].contacts, contact.contact_id, changed)

    return apply


def _existing(state: ContactsState, contact_id: str) -> Contact:
    contact = state.contacts.get(contact_id)
    if contact is None:
        raise NotFound(f"there is no contact {contact_id}")
    return contact


def _put(state: ContactsState, contact: Contact, transaction: Transaction) -> None:
    for identifier in contact.identifiers:
        owner = state.owner(identifier.value)
        if owner is not None and owner.contact_id != contact.contact_id:
            raise Conflict(f"identifiers: {identifier.value} belongs to the contact {owner.name}")
    transaction.put(state.contacts, contact.contact_id, contact)


CONTACTS_IMPLEMENTATIONS: Final[tuple[AnyImplementation, ...]] = (
    Implementation(ContactsCalls.create, CreateContact, _create),
    Implementation(ContactsCalls.update, UpdateContact, _update),
    Implementation(ContactsCalls.delete, DeleteContact, _delete),
    Implementation(ContactsCalls.block, BlockContact, _block(blocked=True)),
    Implementation(ContactsCalls.unblock, UnblockContact, _block(blocked=False)),
)
