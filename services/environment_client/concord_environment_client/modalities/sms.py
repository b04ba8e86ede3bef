"""The calls of the modality `sms`: the user's text messages."""

from typing import ClassVar, Final

from concord_environment_client import responses
from concord_environment_client.endpoints import S
from concord_environment_client.operations import (
    CHANGES_ANY,
    CREATES,
    NUMBER,
    TEXT,
    TEXTS,
    Items,
    ModalityCalls,
    Operation,
    QueryCall,
    StateCall,
    Tool,
    changes,
    deletes,
)

_QUERY: Final = Tool(
    "Finds text messages, latest first.",
    takes={"from_number": TEXT, "body_contains": TEXT, "thread_id": TEXT, "limit": NUMBER},
    defaults={"limit": 50, "sort_by": "sent_at"},
)
_SEND: Final = Tool("Sends a text message as the user.", {"to_numbers": TEXTS, "body": TEXT})
_MARK_READ: Final = Tool("Marks text messages as read.", {"message_ids": TEXTS})
_MARK_UNREAD: Final = Tool("Marks text messages as unread.", {"message_ids": TEXTS})
_DELETE: Final = Tool("Deletes a text message.", {"message_id": TEXT})
_REACT: Final = Tool("Reacts to a text message.", {"message_id": TEXT, "emoji": TEXT})

_REACTIONS: Final = "sms:react"
_GROUPS: Final = "sms:group"


class SMSCalls(ModalityCalls[S]):
    """The user's text messages."""

    name: ClassVar = "sms"
    items: ClassVar = (
        Items(
            "messages",
            "message_id",
            "sent_at",
            content=("body", "from_number", "to_numbers"),
            kept=frozenset({"thread_id", "delivered_at", "delivery_status", "read_at", "edited_at"}),
            sender="from_number",
        ),
    )
    user_address: ClassVar = "user_phone_number"

    get_state = StateCall("/sms/state", responses.SMSState)
    query = QueryCall("/sms/query", responses.FoundMessages, _QUERY)
    send = Operation("/sms/send", "send_message", CREATES, _SEND)
    receive = Operation("/sms/receive", "receive_message", CREATES)
    mark_read = Operation("/sms/read", "mark_read", changes("is_read"), _MARK_READ)
    mark_unread = Operation("/sms/unread", "mark_unread", changes("is_read"), _MARK_UNREAD)
    delete = Operation("/sms/delete", "delete_message", deletes("is_deleted"), _DELETE)
    react = Operation("/sms/react", "add_reaction", changes("reactions"), _REACT)
    remove_reaction = Operation("/sms/unreact", "remove_reaction", changes("reactions"), granted_by=_REACTIONS)
    edit = Operation("/sms/edit", "edit_message", CHANGES_ANY)
    create_group = Operation("/sms/group", "create_group", CREATES)
    update_group = Operation("/sms/group-update", "update_group", CHANGES_ANY, granted_by=_GROUPS)
    add_participant = Operation("/sms/participant-add", "add_participant", CHANGES_ANY, granted_by=_GROUPS)
    remove_participant = Operation("/sms/participant-remove", "remove_participant", CHANGES_ANY, granted_by=_GROUPS)
    leave_group = Operation("/sms/leave", "leave_group", CHANGES_ANY)
    update_conversation = Operation("/sms/conversation", "update_conversation", CHANGES_ANY)
    update_delivery = Operation("/sms/delivery", "update_delivery_status", CHANGES_ANY)
