"""A2A tasks in Redis: one hash per task, a lease for the process that works on it, and its webhooks."""

import logging
from collections.abc import Iterable
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError

from concord import retention
from concord.storage.redis import keys
from concord.storage.redis.clients import PASSING_FAULTS, TimedRetry, answered, script, storage_faults
from concord.task_records import AbandonedTask, StaleTaskError, TaskDraft, TaskRecord, TooManyWebhooksError
from concord.trust.redaction import redact
from concord.wire.roster import new_step_id

logger = logging.getLogger(__name__)

_OUTAGE_S: Final = 240
"""A task outlasts a Redis outage of this length. The platform's client gives up after 300 s of silence."""

_NEW_RETRY: Final = TimedRetry(_OUTAGE_S)
"""A full Redis refuses a new task at once."""

_UPDATE_RETRY: Final = TimedRetry(_OUTAGE_S, (*PASSING_FAULTS, OutOfMemoryError))
"""A task that runs is stored once a full Redis has room again: what fills it is mostly the trace of a trial."""

_ENDED: Final = "done"
_REJECTED: Final = "rejected"

_NOW: Final = "local time = redis.call('TIME')\nlocal now = time[1] * 1000000 + time[2]\n"

_BEGIN: Final = (
    _NOW
    + """
local begun = redis.call('HGET', KEYS[1], ARGV[1])
if begun and begun ~= ARGV[3] then return begun end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[1])
for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -tonumber(ARGV[4]) - 1)) do
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
end
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return ARGV[2]
"""
)

# One script, so that only the holder of the lease writes a version, and only over the version that it read. A script
# whose answer is lost runs again, and then finds that its write is done.
_SAVE_TASK: Final = (
    _NOW
    + """
local task, lease, running, listed, ended, sizes, webhooks = unpack(KEYS)
local id, read, holder, write, owner, head, body, request, state = unpack(ARGV, 1, 9)
local lease_s, ttl, most, most_bytes, prefix, hooks, listed_by = unpack(ARGV, 10)
local stored = redis.call('HMGET', task, 'version', 'ended', 'write')
local version = tonumber(stored[1] or '0')
if stored[3] == write then return version end
if stored[2] == '1' then return -1 end
if state == 'canceled' then
  if version == 0 then return -1 end
else
  local by = redis.call('GET', lease)
  if version ~= tonumber(read) or (by and by ~= holder) then return -1 end
end
version = version + 1
redis.call('HSET', task, 'version', version, 'write', write, 'owner', owner, 'head', head, 'body', body)
redis.call('EXPIRE', task, ttl)
redis.call('EXPIRE', webhooks, ttl)
if listed_by ~= '' then
  redis.call('ZADD', listed, now, id)
  redis.call('EXPIRE', listed, ttl)
end
local function count(size) redis.call('HINCRBY', sizes, '', size) end
local function forget(other)
  redis.call('ZREM', ended, other)
  count(0 - tonumber(redis.call('HGET', sizes, other) or '0'))  -- the negative of 0 would be sent as -0
  redis.call('HDEL', sizes, other)
end
if state == 'running' then
  if request ~= '' then
    redis.call('HSET', task, 'request', request, 'starts', 1)
    if version > 1 then forget(id) end
  end
  redis.call('ZADD', running, 'NX', now, id)
  redis.call('EXPIRE', running, ttl)
  redis.call('SET', lease, holder, 'EX', lease_s)
  return version
end
if state ~= 'waiting' then redis.call('HSET', task, 'ended', 1, 'by', holder) end
redis.call('HDEL', task, 'request', 'kept')
redis.call('ZREM', running, id)
redis.call('DEL', lease)
forget(id)
redis.call('ZADD', ended, now, id)
redis.call('HSET', sizes, id, #body)
count(#body)
while true do
  local oldest = redis.call('ZRANGE', ended, 0, 0, 'WITHSCORES')
  local crowded = redis.call('ZCARD', ended) > tonumber(most)
    or tonumber(redis.call('HGET', sizes, '')) > tonumber(most_bytes)
  if oldest[1] == id or not (crowded or tonumber(oldest[2]) < now - ttl * 1000000) then break end
  redis.call('DEL', prefix .. oldest[1], prefix .. oldest[1] .. hooks)
  forget(oldest[1])
end
redis.call('EXPIRE', ended, ttl)
redis.call('EXPIRE', sizes, ttl)
return version
"""
)

_RENEW: Final = """
local lost = {}
for at = 3, #ARGV do
  local task, lease = KEYS[2 * at - 5], KEYS[2 * at - 4]
  local by = redis.call('GET', lease) or redis.call('HGET', task, 'by')
  if by and by ~= ARGV[1] then
    lost[#lost + 1] = ARGV[at]
  elseif redis.call('HEXISTS', task, 'ended') == 0 and redis.call('EXISTS', task) == 1 then
    redis.call('SET', lease, ARGV[1], 'EX', ARGV[2])
  end
end
return lost
"""

_ADOPT: Final = """
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local task, lease = ARGV[3] .. id, ARGV[4] .. id
  if redis.call('EXISTS', task) == 0 then
    redis.call('ZREM', KEYS[1], id)
  elseif redis.call('SET', lease, ARGV[1], 'NX', 'EX', ARGV[2]) then
    local starts = redis.call('HINCRBY', task, 'starts', 1)
    local stored = redis.call('HMGET', task, 'owner', 'request', 'kept')
    return {id, stored[1], starts, stored[2], stored[3]}
  end
end
return false
"""

_RELEASE: Final = """
for at = 2, #ARGV do
  if redis.call('GET', KEYS[2 * at - 2]) == ARGV[1] then
    redis.call('DEL', KEYS[2 * at - 2])
    redis.call('HINCRBY', KEYS[2 * at - 3], 'starts', -1)
  end
end
"""


async def _tell(error: Exception) -> None:
    logger.warning("cannot store a task yet, trying again: %s", error)


class RedisTaskRecords:
    """The `TaskRecords` port on Redis hashes, for one process."""

    def __init__(self, redis: Redis, *, lease_s: int, keep_s: int) -> None:
        """`lease_s` is the validity of a lease, `keep_s` that of ended tasks (seconds)."""
        self._redis = redis
        self.lease_s, self._keep_s = lease_s, keep_s
        self._holder = new_step_id()
        self._held: dict[str, None] = {}
        self._begin = script(redis, _BEGIN)
        self._save = redis.register_script(_SAVE_TASK)
        self._renew = script(redis, _RENEW)
        self._adopt = script(redis, _ADOPT)
        self._release = script(redis, _RELEASE)

    async def begin(self, message: bytes, task_id: str, *, instead_of: str = "") -> str:
        """See `TaskRecords.begin`."""
        begun: bytes = await self._begin(
            [keys.BEGUN_TASKS, keys.BEGUN_AT],
            [message, task_id, instead_of, retention.BEGUN_TASKS, retention.ABANDONED_TASK_S],
        )
        return begun.decode()

    async def save(self, draft: TaskDraft, version: int) -> int:
        """See `TaskRecords.save`."""
        # A task that waits for its client did no work either; anybody can have one.
        idle = draft.rejected or draft.waiting or bool(draft.request and version)
        task_id, kind = draft.task_id, _REJECTED if idle else _ENDED
        names = [
            *(keys.task(task_id), keys.lease(task_id), keys.RUNNING_TASKS, keys.tasks_of(draft.listed_by)),
            *(keys.ended_tasks(kind), keys.ended_sizes(kind), keys.webhooks(task_id)),
        ]
        stays = draft.ended or draft.waiting
        state = "canceled" if draft.canceled else "ended" if draft.ended else "waiting" if draft.waiting else "running"
        most = retention.REJECTED_TASKS if idle else retention.ENDED_TASKS
        ttl_s = self._keep_s if stays else retention.ABANDONED_TASK_S
        values: list[str | int | bytes] = [
            *(task_id, version, self._holder, new_step_id()),
            *(draft.owner, draft.head, draft.body, draft.request, state),
            *(self.lease_s, ttl_s, most, retention.ENDED_TASKS_BYTES, keys.task(""), keys.WEBHOOKS, draft.listed_by),
        ]
        began = not stays and task_id not in self._held
        if began:
            self._held[task_id] = None  # renewed from now on, however late the answer comes
        stored = -1
        try:
            retry = _UPDATE_RETRY if version else _NEW_RETRY
            stored = int(await answered(retry.call_with_retry(lambda: self._save(names, values), _tell)))
        finally:
            if began if stored < 0 else stays:
                self._held.pop(task_id, None)
        if stored < 0:
            raise StaleTaskError(f"task {task_id} was changed by another process")
        return stored

    async def get(self, task_id: str) -> TaskRecord | None:
        """See `TaskRecords.get`."""
        owner, version, body = await answered(self._redis.hmget(keys.task(task_id), ["owner", "version", "body"]))
        if owner is None or version is None or body is None:
            return None
        return TaskRecord(task_id, owner.decode(), int(version), body)

    async def version(self, task_id: str) -> int:
        """See `TaskRecords.version`."""
        version: bytes | None = await answered(self._redis.hget(keys.task(task_id), "version"))
        return int(version or 0)

    async def heads(self, listed_by: str) -> list[bytes]:
        """See `TaskRecords.heads`."""
        with storage_faults():
            ids = [each.decode() for each in await self._redis.zrange(keys.tasks_of(listed_by), 0, -1)]
            async with self._redis.pipeline(transaction=False) as pipe:
                for task_id in ids:
                    pipe.hget(keys.task(task_id), "head")
                found: list[bytes | None] = await pipe.execute()
            if gone := [task_id for task_id, head in zip(ids, found, strict=True) if head is None]:
                await self._redis.zrem(keys.tasks_of(listed_by), *gone)
        return [head for head in found if head is not None]

    async def delete(self, task_id: str) -> None:
        """See `TaskRecords.delete`."""
        self._held.pop(task_id, None)
        await answered(self._redis.delete(keys.task(task_id), keys.lease(task_id), keys.webhooks(task_id)))

    async def save_checkpoint(self, task_id: str, text: str) -> None:
        """See `TaskRecords.save_checkpoint`."""
        await answered(self._redis.hset(keys.task(task_id), "kept", redact(text)))

    async def renew(self) -> list[str]:
        """See `TaskRecords.renew`."""
        if not (held := list(self._held)):
            return []
        lost: list[bytes] = await self._renew(_leased(held), [self._holder, self.lease_s, *held])
        for task_id in (gone := [each.decode() for each in lost]):
            self._held.pop(task_id, None)
        return gone

    async def adopt(self) -> AbandonedTask | None:
        """See `TaskRecords.adopt`."""
        found: tuple[bytes, bytes | None, int, bytes | None, bytes | None] | None = await self._adopt(
            [keys.RUNNING_TASKS], [self._holder, self.lease_s, keys.task(""), keys.lease("")]
        )
        if found is None:
            return None
        task_id, owner, starts, request, kept = found
        self._held[task_id.decode()] = None
        return AbandonedTask(
            task_id=task_id.decode(),
            owner=(owner or b"").decode(),
            starts=starts,
            request=request or b"",
            checkpoint=None if kept is None else kept.decode(),
        )

    async def release(self) -> None:
        """See `TaskRecords.release`."""
        held = list(self._held)
        self._held.clear()
        if held:
            await self._release(_leased(held), [self._holder, *held])


def _leased(task_ids: Iterable[str]) -> list[str]:
    """The key of each task, and that of its lease."""
    return [name for task_id in task_ids for name in (keys.task(task_id), keys.lease(task_id))]


# Webhooks of A2A tasks in Redis: one hash per task, which expires with the task.

MAX_WEBHOOKS: Final = 8
"""Limit on the webhooks of one task."""

_SAVE_WEBHOOK: Final = """
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
        self._save = script(redis, _SAVE_WEBHOOK)

    async def save(self, task_id: str, webhook_id: str, body: bytes) -> None:
        """See `WebhookRecords.save`."""
        names = [keys.task(task_id), keys.webhooks(task_id)]
        if not await self._save(names, [webhook_id, body, MAX_WEBHOOKS, retention.UNSAVED_WEBHOOK_S]):
            raise TooManyWebhooksError(f"a task has at most {MAX_WEBHOOKS} webhooks")

    async def all(self, task_id: str) -> list[bytes]:
        """See `WebhookRecords.all`."""
        found: dict[bytes, bytes] = await answered(self._redis.hgetall(keys.webhooks(task_id)))
        return [found[webhook_id] for webhook_id in sorted(found)]

    async def delete(self, task_id: str, webhook_id: str) -> None:
        """See `WebhookRecords.delete`."""
        await answered(self._redis.hdel(keys.webhooks(task_id), webhook_id))
