"""Rate limits per caller. (The quotas of a trace are in `concord.storage.quotas`.)"""

from typing import Final

from aiolimiter import AsyncLimiter
from cachetools import LRUCache

_MAX_CALLERS: Final = 10_000


class RateLimiter:
    """A leaky bucket for each caller, in this process alone: several collectors do not share buckets.

    A bucket holds what leaks in `burst_s` seconds. Beyond ten thousand callers, the least recently seen is forgotten.
    """

    def __init__(self, per_s: float, burst_s: float) -> None:
        self._per_s = per_s
        self._burst_s = burst_s
        self._buckets: LRUCache[str, AsyncLimiter] = LRUCache(_MAX_CALLERS)

    def wait_s(self, caller: str, amount: float) -> float:
        """After how many seconds the caller may send this amount; 0: now. Takes nothing from the bucket."""
        amount = min(amount, self._per_s * self._burst_s)
        return 0.0 if self._bucket(caller).has_capacity(amount) else amount / self._per_s

    async def take(self, caller: str, amount: float) -> float:
        """As `wait_s`, and takes the amount if the result is 0."""
        wait_s = self.wait_s(caller, amount)
        if wait_s == 0.0:
            await self._bucket(caller).acquire(min(amount, self._per_s * self._burst_s))
        return wait_s

    def _bucket(self, caller: str) -> AsyncLimiter:
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = AsyncLimiter(self._per_s * self._burst_s, self._burst_s)
        return bucket
