"""The log of calls: the latest, by key, for an audit; and the middleware that writes it."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord_environment.access.keys import Key

MAX_ENTRIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Access:
    """One call. Never what was sent, and never the key's secret."""

    timestamp: datetime
    key_id: str | None
    key_name: str | None
    method: str
    path: str
    status_code: int
    duration_ms: float


class AccessLog:
    """The latest calls."""

    def __init__(self) -> None:
        self._entries: deque[Access] = deque(maxlen=MAX_ENTRIES)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Access]:
        return iter(self._entries)

    def add(self, access: Access) -> None:
        """Notes a call; the oldest is forgotten where there are too many."""
        self._entries.append(access)

    def clear(self) -> int:
        """Forgets every call. Returns how many there were."""
        count = len(self._entries)
        self._entries.clear()
        return count


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
