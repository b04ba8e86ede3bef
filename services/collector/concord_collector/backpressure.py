"""Back-pressure: the collector refuses reports while Redis uses more memory than its watermark allows."""

import asyncio
import logging
from typing import Final

from fastapi import HTTPException

from concord.errors import StorageUnavailableError
from concord.storage import MemoryUse
from concord.storage.connection import Storage
from concord_collector.metrics import Metrics
from concord_collector.storage_metrics import measure

logger = logging.getLogger(__name__)

_POLL_INTERVAL_S: Final = 1.0
_RETRY_AFTER_S: Final = 5
"""Memory becomes free when traces expire or evaluations end, which takes longer than a Redis restart."""


class OverWatermarkError(Exception):
    """Redis uses more memory than its watermark allows."""


class Backpressure:
    """Refuses reports while Redis is over its watermark, before Redis itself has to.

    `memory_bytes`: what Redis may use, beside its own `maxmemory`; `watermark`: the share of the smaller of the two.
    """

    def __init__(self, storage: Storage, metrics: Metrics, *, memory_bytes: int | None, watermark: float) -> None:
        self._storage = storage
        self._metrics = metrics
        self._memory_bytes = memory_bytes
        self._watermark = watermark
        self._over_watermark = False

    async def poll(self) -> None:
        """Measures Redis once a second until cancelled."""
        while True:
            await asyncio.sleep(_POLL_INTERVAL_S)
            await self.measure()

    async def measure(self) -> None:
        """Measures Redis, for the next requests and for the metrics."""
        try:
            state = await measure(self._storage, self._memory_bytes)
        except StorageUnavailableError as error:
            self._metrics.storage.state = None
            logger.warning("cannot read the memory usage of Redis: %s", error)
            return
        self._metrics.storage.state = state
        self._over_watermark = self._is_over_watermark(MemoryUse(state.memory_used, state.memory_limit))

    async def check_readiness(self) -> None:
        """Measures Redis now. Raises StorageUnavailableError, or OverWatermarkError."""
        if self._is_over_watermark(await self._storage.memory()):
            raise OverWatermarkError

    def check(self) -> None:
        """Raises 503 if Redis was over its watermark when it was last measured."""
        if self._over_watermark:
            raise HTTPException(503, "storage is full", {"Retry-After": str(_RETRY_AFTER_S)})

    def _is_over_watermark(self, use: MemoryUse) -> bool:
        limits = [limit for limit in (use.limit, self._memory_bytes) if limit is not None]
        return bool(limits) and use.used >= self._watermark * min(limits)
