"""What each action in the address book does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from concord_environment.core.faults import Conflict, NotThere
from concord_environment.core.transaction import Transaction
from concord_environment.modalities.contacts import requests
from concord_environment.modalities.contacts.records import Contact
from concord_environment.modalities.contacts.state import ContactsState
from concord_environment.modalities.operation import AnyOperation, Operation
from concord_environment.modalities.world import EnvironmentWorld

_SPECIAL: Final = frozenset({"operation", "contact_id", "add_identifiers", "add_groups", "remove_groups"})
_LISTS_AND_FLAGS: Final = frozenset({"identifiers", "addresses", "groups", "is_favorite", "is_blocked"})


def _create(world: EnvironmentWorld, action: requests.CreateContact, transaction: Transaction) -> None:
    contact_id = action.contact_id or transaction.new_id()
    if contact_id in world.contacts.contacts:
        raise Conflict(f"a contact {contact_id} is there already")
    given = {name: getattr(action, name) for name in type(action).model_fields if name != "operation"}
    contact = Contact(**{**given, "contact_id": contact_id}, created_at=transaction.now, updated_at=transaction.now)
    _put(world.contacts, contact, transaction)


def _update(world: EnvironmentWorld, action: requests.UpdateContact, transaction: Transaction) -> None:
    contact = _existing(world.contacts, action.contact_id)
    given = {name: getattr(action, name) for name in action.model_fields_set - _SPECIAL}
    changes = {name: value for name, value in given.items() if value is not None or name not in _LISTS_AND_FLAGS}
    updated = replace(contact, **changes, updated_at=transaction.now)
    groups = dict.fromkeys((*updated.groups, *action.add_groups))
    identifiers = dict.fromkeys((*updated.identifiers, *action.add_identifiers))
    kept = tuple(group for group in groups if group not in action.remove_groups)
    _put(world.contacts, replace(updated, groups=kept, identifiers=tuple(identifiers)), transaction)


def _delete(world: EnvironmentWorld, action: requests.DeleteContact, transaction: Transaction) -> None:
    transaction.drop(world.contacts.contacts, _existing(world.contacts, action.contact_id).contact_id)


def _block(blocked: bool) -> Callable[[EnvironmentWorld, Any, Transaction], None]:
    def apply(world: EnvironmentWorld, action: requests._OneContact, transaction: Transaction) -> None:
        contact = _existing(world.contacts, action.contact_id)
        changed = replace(contact, is_blocked=blocked, updated_at=transaction.now)
        transaction.put(world.contacts.contacts, contact.contact_id, changed)

    return apply


def _existing(state: ContactsState, contact_id: str) -> Contact:
    contact = state.contacts.get(contact_id)
    if contact is None:
        raise NotThere(f"there is no contact {contact_id}")
    return contact


def _put(state: ContactsState, contact: Contact, transaction: Transaction) -> None:
    for identifier in contact.identifiers:
        owner = state.owner(identifier.value)
        if owner is not None and owner.contact_id != contact.contact_id:
            raise Conflict(f"{identifier.value} is {owner.name}'s")
    transaction.put(state.contacts, contact.contact_id, contact)


CONTACTS_OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    Operation(requests.CreateContact, _create, "create", "contacts:create", "contacts.created"),
    Operation(requests.UpdateContact, _update, "update", "contacts:update", "contacts.updated"),
    Operation(requests.DeleteContact, _delete, "delete", "contacts:delete", "contacts.deleted"),
    Operation(requests.BlockContact, _block(blocked=True), "block", "contacts:block", "contacts.blocked"),
    Operation(requests.UnblockContact, _block(blocked=False), "unblock", "contacts:unblock", "contacts.unblocked"),
)
