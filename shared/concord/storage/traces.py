"""Report batches in Redis: a stream per trace, and the answers already given by batch id."""

from collections.abc import AsyncIterator, Awaitable
from datetime import datetime
from typing import Any, Final, cast

from pydantic import BaseModel
from redis.asyncio import Redis

from concord.reports import BatchReceipt, Channel, ReportBatch
from concord.storage import keys
from concord.storage.faults import storage_faults

TTL_S: Final = 24 * 3600
_PAGE: Final = 64

# One script, so that a batch and the mark of its id are written together or not at all, in one round trip.
_APPEND: Final = """
local first = redis.call('HGET', KEYS[2], ARGV[1])
if first then return first end
redis.call('XADD', KEYS[1], '*', 'meta', ARGV[3], 'body', ARGV[4])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return false
"""


class _Meta(BaseModel):
    batch_id: str
    trace_id: str
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime
    n_steps: int
    dropped: int


class RedisTraceStore:
    """The `TraceStore` port on Redis streams."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._append = redis.register_script(_APPEND)

    async def append(self, batch: ReportBatch, receipt: BatchReceipt) -> BatchReceipt | None:
        """See `TraceStore.append`."""
        meta = _Meta.model_validate(batch, from_attributes=True).model_dump_json()
        names = [keys.reports(batch.trace_id), keys.seen(batch.trace_id)]
        with storage_faults():
            first = await self._append(names, [batch.batch_id, receipt.model_dump_json(), meta, batch.body, TTL_S])
        return None if first is None else BatchReceipt.model_validate_json(first)

    async def batches(self, trace_id: str) -> AsyncIterator[ReportBatch]:
        """See `TraceStore.batches`."""
        async for _, batch in self.entries(trace_id):
            yield batch

    async def entries(self, trace_id: str, after: str = "") -> AsyncIterator[tuple[str, ReportBatch]]:
        """See `TraceStore.entries`."""
        while True:
            with storage_faults():
                page = await self._redis.xrange(keys.reports(trace_id), min=f"({after}" if after else "-", count=_PAGE)
            for entry_id, fields in page:
                after = entry_id.decode()
                yield after, _stored(fields)
            if len(page) < _PAGE:
                return

    async def length(self, trace_id: str) -> int:
        """See `TraceStore.length`."""
        with storage_faults():
            return await cast(Awaitable[int], self._redis.xlen(keys.reports(trace_id)))


def _stored(fields: dict[bytes, Any]) -> ReportBatch:
    return ReportBatch(**dict(_Meta.model_validate_json(fields[b"meta"])), body=fields[b"body"])
