"""A2A, client and server: the only package that imports a2a-sdk. Speaks 1.0 and 0.3."""

import os

# The SDK makes some 50 internal spans per message, which cost as much CPU as the message itself.
os.environ.setdefault("OTEL_INSTRUMENTATION_A2A_SDK_ENABLED", "false")

from concord.a2a.agent_card import CardSummary
from concord.a2a.cards import AgentProfile, Skill
from concord.a2a.client import A2AClient, fetch_card
from concord.a2a.errors import AgentFaultError, AgentTimeoutError, AgentUnreachableError, RemoteError
from concord.a2a.messages import Answer, IncomingMessage, TaskState, TaskUpdate
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
