"""The bus: every notice to every subscriber that asked for its kind."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

MAX_WAITING: Final = 1_000
"""How many notices wait for a slow subscriber; then the oldest are dropped, and it is told how many."""

DROPPED: Final = "notices.dropped"
"""The kind of notice that tells of those that were dropped."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened, at a simulated time."""

    type: str
    data: dict[str, Any]
    timestamp: datetime


def matches(patterns: Sequence[str] | None, kind: str) -> bool:
    """Whether a kind of notice fits: `email.` is all of email, `email.sent` only that, None is everything."""
    return patterns is None or any(
        kind.startswith(pattern) if pattern.endswith(".") else kind == pattern for pattern in patterns
    )


class Subscription:
    """One subscriber's queue. `patterns` are the kinds of notices that it wants; None is everything."""

    def __init__(self) -> None:
        self.patterns: list[str] | None = None
        self._waiting: deque[Notice] = deque()
        self._dropped = 0
        self._filled = asyncio.Event()

    def offer(self, notice: Notice) -> None:
        """Puts a notice into the queue, if it is wanted."""
        if not matches(self.patterns, notice.type):
            return
        if len(self._waiting) == MAX_WAITING:
            self._waiting.popleft()
            self._dropped += 1
        self._waiting.append(notice)
        self._filled.set()

    async def next(self) -> Notice:
        """The next notice, when there is one; first, where some were dropped, how many."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        if self._dropped:
            count, self._dropped = self._dropped, 0
            return Notice(DROPPED, {"count": count}, self._waiting[0].timestamp)
        return self._waiting.popleft()


class Bus:
    """Hands notices out."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    @property
    def has_subscribers(self) -> bool:
        """Whether somebody wants any notices."""
        return any(subscription.patterns is None or subscription.patterns for subscription in self._subscriptions)

    def publish(self, notices: Sequence[Notice]) -> None:
        """Hands notices to every subscriber, in order. Nobody is waited for."""
        for subscription in self._subscriptions:
            for notice in notices:
                subscription.offer(notice)

    @contextmanager
    def subscribe(self) -> Iterator[Subscription]:
        """A subscription for as long as the context lasts."""
        subscription = Subscription()
        self._subscriptions.append(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
