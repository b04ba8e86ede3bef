"""The access log: the latest calls, and the middleware that records them."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord_environment.access.keys import Key

MAX_ENTRIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Access:
    """One call, without its body and without the key's secret."""

    timestamp: datetime
    key_id: str | None
    key_name: str | None
    method: str
    path: str
    status_code: int
    duration_ms: float


class AccessLog:
    """The latest calls, and the number of all calls by status."""

    def __init__(self) -> None:
        self._entries: deque[Access] = deque(maxlen=MAX_ENTRIES)
        self.totals: Counter[int] = Counter()
        """All calls since the process started, by HTTP status. `clear` keeps it."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Access]:
        return iter(self._entries)

    def add(self, access: Access) -> None:
        """Adds a call. A full log drops its oldest call."""
        self._entries.append(access)
        self.totals[access.status_code] += 1

    def clear(self) -> int:
        """Deletes all calls. Returns their number."""
        count = len(self._entries)
        self._entries.clear()
        return count


OPEN: Final = frozenset({"/", "/health", "/docs", "/redoc", "/openapi.json"})
"""The paths that need no key. Calls to them are not logged."""


class AccessLogging:
    """ASGI middleware that logs each call with its key, status and duration."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a call and logs it."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        begun, status = perf_counter(), 500

        async def send_and_record_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_record_status)
        finally:
            key: Key | None = scope.get("state", {}).get("key")
            scope["environment"].access_log.add(
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
