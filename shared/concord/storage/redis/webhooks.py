"""Webhooks of A2A tasks in Redis: one hash per task, which expires with the task."""

from collections.abc import Awaitable
from typing import Final, cast

from redis.asyncio import Redis

from concord import retention
from concord.storage.redis import keys
from concord.storage.redis.faults import storage_faults
from concord.task_records import TooManyWebhooksError

MAX_WEBHOOKS: Final = 8
"""Limit on the webhooks of one task."""

_SAVE: Final = """
local task, webhooks = KEYS[1], KEYS[2]
local id, body, most, unsaved_s = unpack(ARGV)
if redis.call('HEXISTS', webhooks, id) == 0 and redis.call('HLEN', webhooks) >= tonumber(most) then return 0 end
redis.call('HSET', webhooks, id, body)
local ttl = redis.call('TTL', task)
redis.call('EXPIRE', webhooks, ttl > 0 and ttl or unsaved_s)
return 1
"""


class RedisWebhookRecords:
    """The `WebhookRecords` port on Redis hashes."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._save = redis.register_script(_SAVE)

    async def save(self, task_id: str, webhook_id: str, body: bytes) -> None:
        """See `WebhookRecords.save`."""
        names = [keys.task(task_id), keys.webhooks(task_id)]
        with storage_faults():
            saved: int = await self._save(names, [webhook_id, body, MAX_WEBHOOKS, retention.UNSAVED_WEBHOOK_S])
        if not saved:
            raise TooManyWebhooksError(f"a task has at most {MAX_WEBHOOKS} webhooks")

    async def all(self, task_id: str) -> list[bytes]:
        """See `WebhookRecords.all`."""
        with storage_faults():
            found = await cast(Awaitable[dict[bytes, bytes]], self._redis.hgetall(keys.webhooks(task_id)))
        return [found[webhook_id] for webhook_id in sorted(found)]

    async def delete(self, task_id: str, webhook_id: str) -> None:
        """See `WebhookRecords.delete`."""
        with storage_faults():
            await cast(Awaitable[int], self._redis.hdel(keys.webhooks(task_id), webhook_id))
