"""The operations of the address book and their requests."""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

from pydantic import Field

from concord_environment.core.actions import Action
from concord_environment.core.faults import Conflict, NotFound
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.contacts.state import (
    Contact,
    ContactIdentifier,
    ContactsState,
    Groups,
    Identifiers,
    PostalAddresses,
    identifier_key,
)
from concord_environment.modalities.fields import Id, Line, Name, NoneAsEmpty, Text
from concord_environment.modalities.modality import AnyImplementation, Implementation, States
from concord_environment_client.modalities.contacts import ContactsCalls

T = TypeVar("T")


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

    `identifiers`, `addresses` and `groups` replace the whole list; `add_…` and `remove_…` change single items of it.
    An identifier is removed by its type and its value. Null clears text fields and the birthday. Fails if the contact
    does not exist (404), or if another contact has one of the identifiers (409).
    """

    operation: Literal["update_contact"] = "update_contact"
    contact_id: Id
    identifiers: Annotated[Identifiers | None, Field(min_length=1)] = None
    add_identifiers: Annotated[Identifiers, NoneAsEmpty] = ()
    remove_identifiers: Annotated[Identifiers, NoneAsEmpty] = ()
    addresses: PostalAddresses | None = None
    add_addresses: Annotated[PostalAddresses, NoneAsEmpty] = ()
    remove_addresses: Annotated[PostalAddresses, NoneAsEmpty] = ()
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


class FavoriteContact(_ContactReference):
    """Makes a contact a favorite. Fails if the contact does not exist (404)."""

    operation: Literal["favorite_contact"] = "favorite_contact"


class UnfavoriteContact(_ContactReference):
    """Makes a contact a favorite no longer. Fails if the contact does not exist (404)."""

    operation: Literal["unfavorite_contact"] = "unfavorite_contact"


class _GroupMembership(_ContactReference):
    group_name: Name


class AddToGroup(_GroupMembership):
    """Adds a contact to a group. Fails if the contact does not exist (404)."""

    operation: Literal["add_to_group"] = "add_to_group"


class RemoveFromGroup(_GroupMembership):
    """Removes a contact from a group. Fails if the contact does not exist (404)."""

    operation: Literal["remove_from_group"] = "remove_from_group"


class MergeContacts(ContactsAction):
    """Merges two contacts. The primary one takes over what it lacks, and the secondary one is deleted.

    Identifiers, addresses and groups are those of both. Fails if one of the contacts does not exist (404), or if both
    are the same (409).
    """

    operation: Literal["merge_contacts"] = "merge_contacts"
    primary_contact_id: Id
    secondary_contact_id: Id


_LISTS: Final = ("identifiers", "addresses", "groups")
_SPECIAL: Final = frozenset(
    {"operation", "contact_id", *(f"{verb}_{each}" for verb in ("add", "remove") for each in _LISTS)}
)
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
    removed = {_kind_and_value(identifier) for identifier in action.remove_identifiers}
    identifiers = dict.fromkeys((*updated.identifiers, *action.add_identifiers))
    lists: dict[str, Any] = {
        "identifiers": tuple(each for each in identifiers if _kind_and_value(each) not in removed),
        "addresses": _changed(updated.addresses, action.add_addresses, action.remove_addresses),
        "groups": _changed(updated.groups, action.add_groups, action.remove_groups),
    }
    _put(world[ContactsState], replace(updated, **lists), transaction)


def _kind_and_value(identifier: ContactIdentifier) -> tuple[str, str]:
    return identifier.identifier_type, identifier_key(identifier.value)


def _changed(items: tuple[T, ...], added: tuple[T, ...], removed: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(each for each in dict.fromkeys((*items, *added)) if each not in removed)


def _delete(world: States, action: DeleteContact, transaction: Transaction) -> None:
    transaction.drop(world[ContactsState].contacts, _existing(world[ContactsState], action.contact_id).contact_id)


def _set(**flags: bool) -> Callable[[States, Any, Transaction], None]:
    def apply(world: States, action: _ContactReference, transaction: Transaction) -> None:
        contact = _existing(world[ContactsState], action.contact_id)
        changed = replace(contact, **flags, updated_at=transaction.now)  # type: ignore[arg-type]  # names of flags
        transaction.put(world[ContactsState].contacts, contact.contact_id, changed)

    return apply


def _join(world: States, action: AddToGroup, transaction: Transaction) -> None:
    contact = _existing(world[ContactsState], action.contact_id)
    groups = _changed(contact.groups, (action.group_name,), ())
    _put(world[ContactsState], replace(contact, groups=groups, updated_at=transaction.now), transaction)


def _leave(world: States, action: RemoveFromGroup, transaction: Transaction) -> None:
    contact = _existing(world[ContactsState], action.contact_id)
    groups = _changed(contact.groups, (), (action.group_name,))
    _put(world[ContactsState], replace(contact, groups=groups, updated_at=transaction.now), transaction)


def _merge(world: States, action: MergeContacts, transaction: Transaction) -> None:
    state = world[ContactsState]
    primary = _existing(state, action.primary_contact_id)
    secondary = _existing(state, action.secondary_contact_id)
    if primary is secondary:
        raise Conflict("secondary_contact_id: a contact cannot be merged with itself")
    taken: dict[str, Any] = {
        field.name: getattr(secondary, field.name)
        for field in fields(Contact)
        if getattr(primary, field.name) in (None, False)
    }
    both: dict[str, Any] = {name: _changed(getattr(primary, name), getattr(secondary, name), ()) for name in _LISTS}
    transaction.drop(state.contacts, secondary.contact_id)
    _put(state, replace(primary, **taken, **both, updated_at=transaction.now), transaction)


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
    Implementation(ContactsCalls.block, BlockContact, _set(is_blocked=True)),
    Implementation(ContactsCalls.unblock, UnblockContact, _set(is_blocked=False)),
    Implementation(ContactsCalls.favorite, FavoriteContact, _set(is_favorite=True)),
    Implementation(ContactsCalls.unfavorite, UnfavoriteContact, _set(is_favorite=False)),
    Implementation(ContactsCalls.add_to_group, AddToGroup, _join),
    Implementation(ContactsCalls.remove_from_group, RemoveFromGroup, _leave),
    Implementation(ContactsCalls.merge, MergeContacts, _merge),
)
