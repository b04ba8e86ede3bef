"""Report batches in Redis: a stream per trace, the receipts by batch id, and the index of open traces."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_core import from_json
from redis.asyncio import Redis

from concord import retention
from concord.storage import (
    ClosedTrace,
    LeftOut,
    OpenTrace,
    OpenTraceLimits,
    Quota,
    TraceClosedError,
    TraceFullError,
)
from concord.storage.redis import keys
from concord.storage.redis.clients import answered, script, storage_faults
from concord.trace.report import BatchReceipt, Channel, ReportBatch
from concord.trust.tokens import Now

# The stream of each trace, and the receipts by batch id.

_PAGE: Final = 64

# One script, so that a batch, its receipt and its quota are written atomically, in one round trip. It keeps a reserve,
# so that a trace that fills Redis cannot keep the assessment from ending.
_APPEND: Final = """
local first = redis.call('HGET', KEYS[2], ARGV[1])
if first then return first end
local closed = ARGV[14] ~= '' and redis.call('HGET', KEYS[4], 'at')
if closed and tonumber(redis.call('TIME')[1]) - tonumber(closed) > tonumber(ARGV[16]) then return -1 end
local function refuse()
  redis.call('HINCRBY', KEYS[3], ARGV[12], ARGV[13])
  redis.call('EXPIRE', KEYS[3], ARGV[5])
  return 0
end
if closed then
  local used = tonumber(redis.call('HGET', KEYS[2], ARGV[6]) or '0')
  if used + #ARGV[14] > tonumber(ARGV[8]) then return refuse() end
  redis.call('HINCRBY', KEYS[2], ARGV[6], #ARGV[14] + #ARGV[1])
  redis.call('HINCRBY', KEYS[4], ARGV[17], ARGV[15])
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[14])
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  return ARGV[14]
end
local memory = redis.call('INFO', 'memory')
local limit = tonumber(string.match(memory, '\\nmaxmemory:(%d+)'))
if limit > 0 and tonumber(string.match(memory, 'used_memory:(%d+)')) > limit * ROOM then
  return redis.error_reply('OOM traces leave the rest of maxmemory to tasks, jobs and rows')
end
if ARGV[6] ~= '' then
  local bytes = tonumber(redis.call('HGET', KEYS[2], ARGV[6]) or '0') + tonumber(ARGV[7])
  local steps = tonumber(redis.call('HGET', KEYS[2], ARGV[9]) or '0') + tonumber(ARGV[10])
  if bytes > tonumber(ARGV[8]) or steps > tonumber(ARGV[11]) then return refuse() end
  redis.call('HSET', KEYS[2], ARGV[6], bytes, ARGV[9], steps)
end
redis.call('XADD', KEYS[1], '*', 'meta', ARGV[3], 'body', ARGV[4])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return false
""".replace("ROOM", str(retention.TRACES_SHARE))
_REPORTED: Final = frozenset({Channel.HTTP, Channel.OTLP})
"""What participants send. The gateway and the evaluator also write to closed trials."""

_UNLIMITED: Final = ("", 0, 0, "", 0, 0, "", 0)
_NEVER_LATE: Final = ("", 0, 0, "")

_CLOSE: Final = """
redis.call('HSETNX', KEYS[1], 'at', redis.call('TIME')[1])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {redis.call('XLEN', KEYS[2]), redis.call('HGETALL', KEYS[3])}
"""
_LATE: Final = "late:"


_BATCH: Final = TypeAdapter(ReportBatch)


class RedisTraceStore:
    """The `TraceStore` port on Redis streams."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._append = script(redis, _APPEND)
        self._close = script(redis, _CLOSE)

    async def append(
        self, batch: ReportBatch, receipt: BatchReceipt, *, quota: Quota | None = None
    ) -> BatchReceipt | None:
        """See `TraceStore.append`."""
        meta = _BATCH.dump_json(batch, exclude={"body"})
        names = [
            *(keys.reports(batch.trace_id), keys.seen(batch.trace_id)),
            *(keys.refused(batch.trace_id), keys.closing(batch.trace_id)),
        ]
        arguments: list[str | bytes | int] = [
            *(_batch_field(batch), receipt.model_dump_json(), meta, batch.body, retention.ASSESSMENT_S),
            *(_UNLIMITED if quota is None else _counted(batch, quota)),
            *(_NEVER_LATE if quota is None or batch.channel not in _REPORTED else _if_late(batch, quota)),
        ]
        first: Any = await self._append(names, arguments)
        if first == 0:
            raise TraceFullError(f"trace {batch.trace_id} accepts no more steps of {batch.reporter}")
        if first == -1:
            raise TraceClosedError(f"the trial of trace {batch.trace_id} is over")
        return None if first is None else BatchReceipt.model_validate_json(first)

    async def refused(self, trace_id: str) -> Mapping[str, int]:
        """See `TraceStore.refused`."""
        return _steps_by_account(await answered(self._redis.hgetall(keys.refused(trace_id))))

    async def batches(self, trace_id: str) -> AsyncIterator[ReportBatch]:
        """See `TraceStore.batches`."""
        async for _, batch in self.entries(trace_id):
            yield batch

    async def entries(self, trace_id: str, after: str = "") -> AsyncIterator[tuple[str, ReportBatch]]:
        """See `TraceStore.entries`."""
        while True:
            beyond = f"({after}" if after else "-"
            page = await answered(self._redis.xrange(keys.reports(trace_id), min=beyond, count=_PAGE))
            for entry_id, fields in page:
                after = entry_id.decode()
                yield after, _stored(fields)
            if len(page) < _PAGE:
                return

    async def length(self, trace_id: str) -> int:
        """See `TraceStore.length`."""
        return int(await answered(self._redis.xlen(keys.reports(trace_id))))

    async def delete(self, trace_id: str) -> None:
        """See `TraceStore.delete`."""
        await answered(self._redis.unlink(keys.reports(trace_id), keys.seen(trace_id), keys.refused(trace_id)))

    async def close(self, trace_id: str) -> ClosedTrace:
        """See `TraceStore.close`."""
        names = [keys.closing(trace_id), keys.reports(trace_id), keys.refused(trace_id)]
        batches, refused = await self._close(names, [retention.ASSESSMENT_S])
        return ClosedTrace(batches, _steps_by_account(dict(zip(refused[::2], refused[1::2], strict=True))))

    async def is_closed(self, trace_id: str) -> bool:
        """See `TraceStore.is_closed`."""
        return bool(await answered(self._redis.exists(keys.closing(trace_id))))

    async def late(self, trace_id: str) -> dict[str, int]:
        """See `TraceStore.late`."""
        return _late_by_account(await answered(self._redis.hgetall(keys.closing(trace_id))))

    async def left_out(self, trace_ids: Sequence[str]) -> list[LeftOut]:
        """See `TraceStore.left_out`."""
        with storage_faults():
            async with self._redis.pipeline(transaction=False) as pipe:
                for trace_id in trace_ids:
                    pipe.hgetall(keys.closing(trace_id))
                    pipe.hgetall(keys.refused(trace_id))
                told: list[dict[bytes, bytes]] = await pipe.execute()
        return [
            LeftOut(_late_by_account(late), _steps_by_account(refused))
            for late, refused in zip(told[::2], told[1::2], strict=True)
        ]


def _late_by_account(told: Mapping[bytes, bytes]) -> dict[str, int]:
    fields = {name.decode(): value for name, value in told.items()}
    return {name.removeprefix(_LATE): int(n) for name, n in fields.items() if name.startswith(_LATE)}


def _steps_by_account(fields: Mapping[bytes, bytes]) -> dict[str, int]:
    return {account.decode(): int(steps) for account, steps in fields.items()}


def _batch_field(batch: ReportBatch) -> str:
    """The field of a batch's receipt: it includes the account, so that reporters' batch ids cannot collide."""
    return f"batch:{len(batch.reporter)}:{batch.reporter}:{batch.batch_id}"


def _counted(batch: ReportBatch, quota: Quota) -> list[str | int]:
    return [
        *(f"bytes:{quota.account}", quota.cost, quota.limit),
        *(f"steps:{quota.account}", quota.steps, quota.max_steps),
        *(quota.account, batch.n_steps + batch.dropped),
    ]


def _if_late(batch: ReportBatch, quota: Quota) -> list[str | int]:
    too_late = BatchReceipt(accepted=0, rejected=[], late=batch.n_steps).model_dump_json()
    return [too_late, batch.n_steps, retention.LATE_S, f"{_LATE}{quota.account}"]


def _stored(fields: dict[bytes, Any]) -> ReportBatch:
    return _BATCH.validate_python({**from_json(fields[b"meta"]), "body": fields[b"body"]})


# The index of open traces in Redis: traces that belong to no trial, which a collector accepts without a token.

MAX_SERVICES: Final = 400
"""Characters of the names of a trace's services."""

_FIELDS: Final = ("first", "spans", "services")

# One script, so that the sum of the sizes stays correct. It returns the traces beyond the limits, the oldest first.
_ADD: Final = """
local id, now, retention = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[6])
redis.call('ZADD', KEYS[1], now, id)
redis.call('HSETNX', KEYS[2], 'first:'..id, now)
redis.call('HINCRBY', KEYS[2], 'bytes:'..id, ARGV[3])
redis.call('HINCRBY', KEYS[2], 'spans:'..id, ARGV[4])
local services = redis.call('HGET', KEYS[2], 'services:'..id) or ''
local known = string.find('\\n'..services..'\\n', '\\n'..ARGV[5]..'\\n', 1, true)
if not known and #services + #ARGV[5] < tonumber(ARGV[9]) then
  redis.call('HSET', KEYS[2], 'services:'..id, services == '' and ARGV[5] or services..'\\n'..ARGV[5])
end
local total = redis.call('HINCRBY', KEYS[2], 'total', ARGV[3])
local evicted = {}
while true do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  local full = total > tonumber(ARGV[7]) or redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[8])
  if oldest[1] == id or not (full or tonumber(oldest[2]) < now - retention) then break end
  local size = tonumber(redis.call('HGET', KEYS[2], 'bytes:'..oldest[1]) or '0')
  total = redis.call('HINCRBY', KEYS[2], 'total', 0 - size)  -- the negative of 0 would be sent as -0
  redis.call('ZREM', KEYS[1], oldest[1])
  for _, field in ipairs({'first:', 'bytes:', 'spans:', 'services:'}) do
    redis.call('HDEL', KEYS[2], field..oldest[1])
  end
  evicted[#evicted + 1] = oldest[1]
end
redis.call('EXPIRE', KEYS[1], retention)
redis.call('EXPIRE', KEYS[2], retention)
return evicted
"""


class RedisOpenTraces:
    """The `OpenTraces` port on a sorted set and a hash."""

    def __init__(self, redis: Redis, now: Now) -> None:
        self._redis = redis
        self._now = now
        self._add = script(redis, _ADD)

    async def add(
        self, trace_id: str, service: str, *, n_bytes: int, n_spans: int, limits: OpenTraceLimits
    ) -> list[str]:
        """See `OpenTraces.add`."""
        arguments: list[str | int] = [
            *(trace_id, f"{await self._now():.3f}", n_bytes, n_spans, service),
            *(limits.retention_s, limits.max_bytes, limits.max_traces, MAX_SERVICES),
        ]
        evicted = await self._add([keys.OPEN_TRACES, keys.OPEN_FACTS], arguments)
        return [each.decode() for each in evicted]

    async def list(self, since: float = 0.0) -> list[OpenTrace]:
        """See `OpenTraces.list`."""
        found = await answered(self._redis.zrangebyscore(keys.OPEN_TRACES, since, "+inf", withscores=True))
        traces = [(trace_id.decode(), float(last)) for trace_id, last in found]
        names = [f"{field}:{trace_id}" for trace_id, _ in traces for field in _FIELDS]
        if not names:
            return []
        values: list[bytes | None] = await answered(self._redis.hmget(keys.OPEN_FACTS, names))
        facts = iter([(value or b"").decode() for value in values])
        return [
            OpenTrace(
                trace_id=trace_id,
                first_s=float(next(facts) or last),
                last_s=last,
                n_spans=int(next(facts) or 0),
                services=tuple(filter(None, next(facts).split("\n"))),
            )
            for trace_id, last in traces
        ]

    async def contains(self, trace_id: str) -> bool:
        """See `OpenTraces.contains`."""
        return await answered(self._redis.zscore(keys.OPEN_TRACES, trace_id)) is not None
