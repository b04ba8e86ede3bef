"""Pressure: how full storage is and how much waits there, looked at once a second."""

import asyncio
import logging
from typing import Final

from fastapi import HTTPException

from concord.storage import MemoryUse, Queue, StorageUnavailableError
from concord.storage.redis import Storage
from concord_collector.instruments import Instruments

logger = logging.getLogger(__name__)

_LOOK_S: Final = 1.0
_RETRY_AFTER_S: Final = 5
"""Memory becomes free when traces expire or work is done, which takes longer than a Redis restart."""


class OverWatermarkError(Exception):
    """Storage is fuller than it should be."""


class Pressure:
    """Refuses what is new while storage is over its watermark, before Redis itself has to."""

    def __init__(
        self, storage: Storage, instruments: Instruments, *, memory_bytes: int | None, watermark: float
    ) -> None:
        self._storage = storage
        self._instruments = instruments
        self._memory_bytes = memory_bytes
        self._watermark = watermark
        self._over = False

    async def watch(self) -> None:
        """Looks once a second until cancelled."""
        while True:
            try:
                await self.look()
            except StorageUnavailableError as error:
                logger.warning("storage does not say how full it is: %s", error)
            await asyncio.sleep(_LOOK_S)

    async def look(self) -> None:
        """Looks once. Raises StorageUnavailableError."""
        use = await self._storage.memory()
        self._over = self._is_over(use)
        self._instruments.redis_used.set(use.used)
        for queue in Queue:
            self._instruments.queue_depth.labels(queue=queue).set(await self._storage.jobs.depth(queue))
            self._instruments.queue_age.labels(queue=queue).set(await self._storage.jobs.oldest_s(queue))

    async def ready(self) -> None:
        """Raises StorageUnavailableError or OverWatermarkError where nothing could be taken just now."""
        if self._is_over(await self._storage.memory()):
            raise OverWatermarkError

    def check(self) -> None:
        """Raises 503 while storage is over its watermark."""
        if self._over:
            raise HTTPException(503, "storage is full", {"Retry-After": str(_RETRY_AFTER_S)})

    def _is_over(self, use: MemoryUse) -> bool:
        limits = [limit for limit in (use.limit, self._memory_bytes) if limit is not None]
        return bool(limits) and use.used >= self._watermark * min(limits)
