"""Clients of the environment service: `UESClient`, and `AsyncUESClient` for asyncio."""

from concord.environment.clients import AsyncUESClient, UESClient
from concord.environment.errors import (
    APIError,
    AuthenticationError,
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
    ServerError,
    UESClientError,
    UESConnectionError,
    UESTimeoutError,
    ValidationError,
)

__all__ = [
    "APIError",
    "AsyncUESClient",
    "AuthenticationError",
    "ConflictError",
    "NotFoundError",
    "PermissionDeniedError",
    "ServerError",
    "UESClient",
    "UESClientError",
    "UESConnectionError",
    "UESTimeoutError",
    "ValidationError",
]
