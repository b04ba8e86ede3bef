"""The log of calls: the latest, by key, for an audit."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

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
