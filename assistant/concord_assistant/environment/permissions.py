"""The permissions of an assistant's key in the environment."""

from typing import Final

_READ: Final = ("state", "query")

_ACTIONS: Final = {
    "email": ("send", "read", "unread", "star", "unstar", "archive", "delete", "label", "unlabel", "move"),
    "sms": ("send", "read", "unread", "delete", "react"),
    "calendar": ("create", "update", "delete", "respond"),
    "chat": ("send",),
}

ASSISTANT_PERMISSIONS: Final = (
    "time:read",
    *(f"{modality}:{call}" for modality, actions in _ACTIONS.items() for call in (*_READ, *actions)),
)
"""What a user's assistant may do: read, and act as the user. It cannot move time, deliver messages from others, manage
keys, or see scheduled events."""
