"""The calls of the modality `chat`: the chat between the user and the assistant."""

from typing import ClassVar, Final

from concord_environment_client import responses
from concord_environment_client.endpoints import S
from concord_environment_client.operations import (
    CREATES,
    NUMBER,
    TEXT,
    Effect,
    Items,
    ModalityCalls,
    Operation,
    QueryCall,
    StateCall,
    Tool,
    deletes,
)

CONVERSATION: Final = "user-assistant"
"""The conversation in which the user and the assistant talk."""

_QUERY: Final = Tool(
    "Reads the chat with the user, latest first. The user's tasks are there.",
    takes={"limit": NUMBER},
    defaults={"conversation_id": CONVERSATION, "sort_order": "desc", "limit": 50},
)
_SEND: Final = Tool("Writes to the user in the chat.", {"content": TEXT}, defaults={"conversation_id": CONVERSATION})


class ChatCalls(ModalityCalls[S]):
    """The chat between the user and the assistant."""

    name: ClassVar = "chat"
    items: ClassVar = (
        Items(
            "messages",
            "message_id",
            "timestamp",
            content=("content", "role"),
            sender="role",
            sent_by_assistant="assistant",
        ),
    )

    get_state = StateCall("/chat/state", responses.ChatState)
    query = QueryCall("/chat/query", responses.FoundChat, _QUERY)
    send = Operation("/chat/send", "send_message", CREATES, _SEND)
    delete = Operation("/chat/delete", "delete_message", deletes("is_deleted"))
    clear = Operation("/chat/clear", "clear_conversation", Effect(empties="conversation_id"))
