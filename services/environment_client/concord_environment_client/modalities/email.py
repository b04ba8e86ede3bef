"""The calls of the modality `email`: the user's mailbox."""

from typing import ClassVar, Final

from concord_environment_client import responses
from concord_environment_client.endpoints import S
from concord_environment_client.operations import (
    CREATES,
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    Items,
    ModalityCalls,
    Operation,
    QueryCall,
    Schema,
    StateCall,
    Tool,
    changes,
    deletes,
)


def _selection(description: str, **needs: Schema) -> Tool:
    return Tool(description, {"message_ids": TEXTS, **needs})


_FILTERS: Final = {
    **dict.fromkeys(("from_address", "to_address", "subject_contains", "body_contains", "folder"), TEXT),
    "is_read": FLAG,
    "received_after": TIME,
    "received_before": TIME,
    "limit": NUMBER,
}
_SEND: Final = Tool(
    "Sends an email as the user. To reply, give in_reply_to, the message_id of the email.",
    {"to_addresses": TEXTS, "subject": TEXT, "body_text": TEXT},
    {"cc_addresses": TEXTS, "bcc_addresses": TEXTS, "in_reply_to": TEXT},
)


class EmailCalls(ModalityCalls[S]):
    """The user's mailbox."""

    name: ClassVar = "email"
    items: ClassVar = (
        Items(
            "emails",
            "message_id",
            "received_at",
            content=("subject", "body_text", "from_address", "to_addresses"),
            kept=frozenset({"thread_id", "references"}),
            sender="from_address",
        ),
    )
    user_address: ClassVar = "user_email_address"

    get_state = StateCall("/email/state", responses.EmailState)
    query = QueryCall(
        "/email/query",
        responses.FoundEmails,
        Tool("Finds emails, latest first.", takes=_FILTERS, defaults={"limit": 50, "sort_by": "date"}),
    )
    send = Operation("/email/send", "send", CREATES, _SEND)
    receive = Operation("/email/receive", "receive", CREATES)
    mark_read = Operation("/email/read", "mark_read", changes("is_read"), _selection("Marks emails as read."))
    mark_unread = Operation("/email/unread", "mark_unread", changes("is_read"), _selection("Marks emails as unread."))
    star = Operation("/email/star", "star", changes("is_starred"), _selection("Adds the star to emails."))
    unstar = Operation("/email/unstar", "unstar", changes("is_starred"), _selection("Removes the star from emails."))
    archive = Operation("/email/archive", "archive", changes("folder"), _selection("Moves emails to the archive."))
    delete = Operation("/email/delete", "delete", deletes("folder"), _selection("Moves emails to the trash."))
    add_labels = Operation(
        "/email/label",
        "add_label",
        changes("labels"),
        _selection("Adds labels to emails.", labels=TEXTS),
    )
    remove_labels = Operation(
        "/email/unlabel",
        "remove_label",
        changes("labels"),
        _selection("Removes labels from emails.", labels=TEXTS),
    )
    move = Operation("/email/move", "move", changes("folder"), _selection("Moves emails to a folder.", folder=TEXT))
