"""The common time of all processes on one Redis: machines disagree about the time, and each may jump."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from redis.asyncio import Redis

from concord.errors import StorageUnavailableError
from concord.storage.redis.clients import answered

RENEW_S: Final = 60.0

_PRECISE_S: Final = 1.0
"""An answer that took longer tells the time less precisely than the offset that it would replace."""


class RedisClock:
    """Redis's TIME, kept as an offset to this machine's monotonic clock. The first use each minute renews it."""

    def __init__(self, redis: Redis, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._monotonic = monotonic
        self._offset_s: float | None = None
        self._renew_at = float("-inf")
        self._first = asyncio.Lock()

    async def now(self) -> float:
        """The time (Unix seconds). Raises StorageUnavailableError if Redis has never told it."""
        if self._offset_s is None:
            async with (
                self._first
            ):  # two readings would differ by milliseconds, and the later time could be the earlier
                if self._offset_s is None:
                    self._renew_at = self._monotonic() + RENEW_S
                    self._offset_s = await self._read()
        elif self._monotonic() >= self._renew_at:
            self._renew_at = self._monotonic() + RENEW_S  # so that one caller asks, and the others go on
            with suppress(StorageUnavailableError):
                self._offset_s = await self._read()
        return self._monotonic() + self._offset_s

    async def _read(self) -> float:
        began = self._monotonic()
        seconds, microseconds = await answered(self._redis.time())
        ended = self._monotonic()
        if self._offset_s is not None and ended - began > _PRECISE_S:
            return self._offset_s
        return float(seconds + microseconds / 1e6 - (began + ended) / 2)
