"""The middleware that notes every call in the access log."""

from datetime import UTC, datetime
from time import perf_counter
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord_environment.access.keys import Key
from concord_environment.access.log import Access, AccessLog

OPEN: Final = frozenset({"/", "/health", "/docs", "/redoc", "/openapi.json"})
"""What is open to everybody, and not noted."""


class _Logged(Protocol):
    @property
    def access_log(self) -> AccessLog: ...


class AccessLogging:
    """Notes who called what, how it was answered and how long it took."""

    def __init__(self, app: ASGIApp, environment: _Logged) -> None:
        self._app = app
        self._environment = environment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a call on and notes it."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        begun, status = perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            key: Key | None = scope.get("state", {}).get("key")
            self._environment.access_log.add(
                Access(
                    timestamp=datetime.now(UTC),
                    key_id=key.key_id if key else None,
                    key_name=key.name if key else None,
                    method=scope["method"],
                    path=scope["path"][:500],
                    status_code=status,
                    duration_ms=round((perf_counter() - begun) * 1_000, 3),
                )
            )
