"""The bus that distributes notices to subscribers."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

MAX_WAITING: Final = 1_000
"""The length of a subscriber's queue. A full queue drops its oldest notices, and the subscriber learns how many."""

DROPPED: Final = "notices.dropped"
"""The kind of the notice that counts dropped ones."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened at a simulated time."""

    type: str
    data: dict[str, Any]
    timestamp: datetime


def matches(patterns: Sequence[str] | None, kind: str) -> bool:
    """Whether a kind of notice matches a pattern: `email.` any of email, `email.sent` only itself, None any."""
    return patterns is None or any(
        kind.startswith(pattern) if pattern.endswith(".") else kind == pattern for pattern in patterns
    )


Kept = Callable[[], Awaitable[None]]
"""Returns when everything that has changed so far outlives the process, or raises NotKept."""


async def at_once() -> None:
    """Where nothing is kept, there is nothing to wait for."""


class Subscription:
    """One subscriber's queue. `patterns` selects its notices as in `matches`."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self.patterns: list[str] | None = None
        self._waiting: deque[Notice] = deque()
        self._dropped = 0
        self._filled = asyncio.Event()

    def offer(self, notice: Notice) -> None:
        """Queues a notice that matches the patterns."""
        if not matches(self.patterns, notice.type):
            return
        if len(self._waiting) == MAX_WAITING:
            self._waiting.popleft()
            self._dropped += 1
        self._waiting.append(notice)
        self._filled.set()

    async def next(self) -> Notice:
        """Waits for the next notice, and until its cause is kept. After drops, the next notice counts them."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        await self._kept()
        if self._dropped:
            count, self._dropped = self._dropped, 0
            return Notice(DROPPED, {"count": count}, self._waiting[0].timestamp)
        return self._waiting.popleft()


class Bus:
    """Distributes notices to subscriptions."""

    def __init__(self) -> None:
        self.kept: Kept = at_once
        """What subscribers' notices wait for."""
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
        subscription = Subscription(self.kept)
        self._subscriptions.append(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
