"""The message bus that distributes notices to subscribers."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

MAX_WAITING: Final = 1_000
"""The length of a subscriber's queue. A full queue drops its oldest notices; the subscriber gets their number."""

DROPPED: Final = "notices.dropped"
"""The type of the notice that carries the number of dropped notices."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The message to subscribers that something happened at a simulated time."""

    type: str
    data: dict[str, Any]
    timestamp: datetime


def matches(patterns: Sequence[str] | None, kind: str) -> bool:
    """Whether a type of notice matches a pattern: `email.` matches all of email, `email.sent` only itself, None all."""
    return patterns is None or any(
        kind.startswith(pattern) if pattern.endswith(".") else kind == pattern for pattern in patterns
    )


class Subscription:
    """One subscriber's queue. `patterns` selects its notices as in `matches`."""

    def __init__(self) -> None:
        self.patterns: list[str] | None = None
        self._queue: deque[Notice] = deque()
        self._dropped = 0
        self._filled = asyncio.Event()

    def offer(self, notice: Notice) -> None:
        """Queues a notice that matches the patterns."""
        if not matches(self.patterns, notice.type):
            return
        if len(self._queue) == MAX_WAITING:
            self._queue.popleft()
            self._dropped += 1
        self._queue.append(notice)
        self._filled.set()

    async def next(self) -> Notice:
        """Waits for the next notice. After drops, the next notice carries their number."""
        while not self._queue:
            self._filled.clear()
            await self._filled.wait()
        if self._dropped:
            count, self._dropped = self._dropped, 0
            return Notice(DROPPED, {"count": count}, self._queue[0].timestamp)
        return self._queue.popleft()


class Bus:
    """Distributes notices to subscriptions."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    @property
    def has_subscribers(self) -> bool:
        """Whether any subscription wants notices."""
        return any(subscription.patterns is None or subscription.patterns for subscription in self._subscriptions)

    def publish(self, notices: Sequence[Notice]) -> None:
        """Queues notices for every subscription, in order and without waiting."""
        for subscription in self._subscriptions:
            for notice in notices:
                subscription.offer(notice)

    @contextmanager
    def subscribe(self) -> Iterator[Subscription]:
        """A subscription within the context."""
        subscription = Subscription()
        self._subscriptions.append(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
