"""Rates: what one caller may send, so that no other has to wait for it."""

from collections import OrderedDict
from typing import Final

from aiolimiter import AsyncLimiter

_MAX_CALLERS: Final = 10_000


class Rate:
    """A leaky bucket for each caller, kept by this process alone: with several collectors each has its own.

    A bucket holds what flows off in `burst_s` seconds. Of callers beyond ten thousand, the longest silent are
    forgotten.
    """

    def __init__(self, per_s: float, burst_s: float) -> None:
        self._per_s = per_s
        self._burst_s = burst_s
        self._buckets: OrderedDict[str, AsyncLimiter] = OrderedDict()

    def wait_s(self, caller: str, amount: float) -> float:
        """How long until the caller may send so much (seconds); 0: now. Takes nothing."""
        amount = min(amount, self._per_s * self._burst_s)
        return 0.0 if self._bucket(caller).has_capacity(amount) else amount / self._per_s

    async def take(self, caller: str, amount: float) -> float:
        """The same, and takes it if the answer is 0."""
        wait_s = self.wait_s(caller, amount)
        if wait_s == 0.0:
            await self._bucket(caller).acquire(min(amount, self._per_s * self._burst_s))
        return wait_s

    def _bucket(self, caller: str) -> AsyncLimiter:
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = AsyncLimiter(self._per_s * self._burst_s, self._burst_s)
            if len(self._buckets) > _MAX_CALLERS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(caller)
        return bucket
