"""The permissions of an assistant's key in the environment."""

from typing import Final

from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import assistant_permissions

ASSISTANT_PERMISSIONS: Final = ("time:read", *assistant_permissions(MODALITIES))
"""What a user's assistant may do: read, and act as the user. It cannot move time, deliver messages from others, manage
keys, or see scheduled events."""
