"""The index of open traces in Redis: traces that belong to no trial, which a collector accepts without a token."""

from collections.abc import Awaitable
from typing import Final, cast

from redis.asyncio import Redis

from concord.storage.ports import OpenTrace, OpenTraceLimits
from concord.storage.redis import keys
from concord.storage.redis.faults import storage_faults
from concord.trust.token_keys import Now

MAX_SERVICES: Final = 400
"""Characters of the names of a trace's services."""

_FIELDS: Final = ("first", "bytes", "spans", "services")

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
        self._add = redis.register_script(_ADD)

    async def add(
        self, trace_id: str, service: str, *, n_bytes: int, n_spans: int, limits: OpenTraceLimits
    ) -> list[str]:
        """See `OpenTraces.add`."""
        counts: list[str | int] = [
            n_bytes,
            n_spans,
            service,
            limits.retention_s,
            limits.max_bytes,
            limits.max_traces,
            MAX_SERVICES,
        ]
        arguments: list[str | int] = [trace_id, f"{await self._now():.3f}", *counts]
        with storage_faults():
            evicted = await self._add([keys.OPEN_TRACES, keys.OPEN_FACTS], arguments)
        return [each.decode() for each in evicted]

    async def list(self, since: float = 0.0) -> list[OpenTrace]:
        """See `OpenTraces.list`."""
        with storage_faults():
            found = await self._redis.zrange(
                keys.OPEN_TRACES, cast(int, since), cast(int, "+inf"), byscore=True, withscores=True
            )
            traces = [(trace_id.decode(), float(last)) for trace_id, last in found]
            names = [f"{field}:{trace_id}" for trace_id, _ in traces for field in _FIELDS]
            if not names:
                return []
            values = await cast(Awaitable[list[bytes | None]], self._redis.hmget(keys.OPEN_FACTS, names))
        facts = iter([(value or b"").decode() for value in values])
        return [
            OpenTrace(
                trace_id=trace_id,
                first_s=float(next(facts) or last),
                last_s=last,
                n_bytes=int(next(facts) or 0),
                n_spans=int(next(facts) or 0),
                services=tuple(filter(None, next(facts).split("\n"))),
            )
            for trace_id, last in traces
        ]

    async def contains(self, trace_id: str) -> bool:
        """See `OpenTraces.contains`."""
        with storage_faults():
            return await self._redis.zscore(keys.OPEN_TRACES, trace_id) is not None
