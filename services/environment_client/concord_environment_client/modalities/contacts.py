"""The calls of the modality `contacts`: the user's address book."""

from typing import ClassVar

from concord_environment_client.endpoints import S
from concord_environment_client.operations import (
    CHANGES_ANY,
    CREATES,
    Items,
    ModalityCalls,
    Operation,
    QueryCall,
    StateCall,
    changes,
    deletes,
)
from concord_environment_client.responses import Json


class ContactsCalls(ModalityCalls[S]):
    """The user's address book."""

    name: ClassVar = "contacts"
    items: ClassVar = (
        Items(
            "contacts",
            "contact_id",
            content=("first_name", "last_name"),
            kept=frozenset({"created_at", "updated_at"}),
        ),
    )

    get_state = StateCall("/contacts/state", Json)
    query = QueryCall("/contacts/query", Json)
    create = Operation("/contacts/create", "create_contact", CREATES)
    update = Operation("/contacts/update", "update_contact", CHANGES_ANY)
    delete = Operation("/contacts/delete", "delete_contact", deletes())
    block = Operation("/contacts/block", "block_contact", changes("is_blocked"))
    unblock = Operation("/contacts/unblock", "unblock_contact", changes("is_blocked"))
    favorite = Operation("/contacts/favorite", "favorite_contact", changes("is_favorite"))
    unfavorite = Operation("/contacts/unfavorite", "unfavorite_contact", changes("is_favorite"))
    add_to_group = Operation("/contacts/group/add", "add_to_group", changes("groups"))
    remove_from_group = Operation("/contacts/group/remove", "remove_from_group", changes("groups"))
    merge = Operation("/contacts/merge", "merge_contacts", CHANGES_ANY)
