"""Python clients of the environment service: `UESClient`, and `AsyncUESClient` for asyncio."""

from concord_environment_client.clients import AsyncUESClient, UESClient
from concord_environment_client.errors import (
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
