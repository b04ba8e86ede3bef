"""Retries Redis commands for a time rather than a number of attempts."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from redis import exceptions
from redis.asyncio.retry import Retry
from redis.backoff import FullJitterBackoff

T = TypeVar("T")

_BACKOFF_S: Final = 0.05
_BACKOFF_CAP_S: Final = 1.0

# redis-py reports a refused connection as OSError while it connects, and converts it too late for its own retries.
PASSING_FAULTS: Final = (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.BusyLoadingError, OSError)


class TimedRetry(Retry):
    """Retries transient faults with full jitter for `retry_s`.

    redis-py nests the retries of connecting in those of a command, so the total can be twice that.
    """

    def __init__(self, retry_s: float, faults: tuple[type[Exception], ...] = PASSING_FAULTS) -> None:
        backoff = FullJitterBackoff(cap=_BACKOFF_CAP_S, base=_BACKOFF_S)
        super().__init__(backoff, -1, faults)  # type: ignore[arg-type]  # it takes any exceptions
        self._retry_s = retry_s
        self._faults = faults

    async def call_with_retry(self, do: Callable[[], Awaitable[T]], fail: Callable[[exceptions.RedisError], Any]) -> T:
        """The result of `do`. `fail` is called with each fault and may raise."""
        deadline = time.monotonic() + self._retry_s
        failures = 0
        while True:
            try:
                return await do()
            except self._faults as error:
                failures += 1
                await fail(error)  # type: ignore[arg-type]  # and tells of any
                pause = self._backoff.compute(failures)
                if time.monotonic() + pause > deadline:
                    raise
                await asyncio.sleep(pause)
