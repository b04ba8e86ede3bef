"""A2A, client and server: the only package that imports a2a-sdk. Speaks 1.0 and 0.3."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final

# The SDK makes some 50 internal spans per message, which cost as much CPU as the message itself.
os.environ.setdefault("OTEL_INSTRUMENTATION_A2A_SDK_ENABLED", "false")

from concord.a2a.agent_card import CardSummary
from concord.a2a.cards import AgentProfile, Skill
from concord.a2a.client import A2AClient, fetch_card
from concord.a2a.errors import AgentFaultError, AgentTimeoutError, AgentUnreachableError, RemoteError
from concord.a2a.messages import Answer, IncomingMessage, TaskState, TaskUpdate

if TYPE_CHECKING:
    from concord.a2a.push import Webhooks
    from concord.a2a.server import AgentServer, Handler, TaskHandle, mount_agent

__all__ = [
    "A2AClient",
    "AgentFaultError",
    "AgentProfile",
    "AgentServer",
    "AgentTimeoutError",
    "AgentUnreachableError",
    "Answer",
    "CardSummary",
    "Handler",
    "IncomingMessage",
    "RemoteError",
    "Skill",
    "TaskHandle",
    "TaskState",
    "TaskUpdate",
    "Webhooks",
    "fetch_card",
    "mount_agent",
]

_OF_SERVERS: Final = {
    "AgentServer": "server",
    "Handler": "server",
    "TaskHandle": "server",
    "Webhooks": "push",
    "mount_agent": "server",
}


def __getattr__(name: str) -> object:
    # Imported when first used: the SDK's server takes longer to import than all that a client needs.
    if name not in _OF_SERVERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OF_SERVERS[name]}"), name)
