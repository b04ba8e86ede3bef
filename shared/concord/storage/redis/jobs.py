"""The job queue on arq: enqueueing, depth, dead letters, and word of jobs that have ended."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from typing import Any, Final

from arq.connections import ArqRedis
from arq.constants import job_key_prefix, result_key_prefix
from arq.jobs import serialize_job
from pydantic import TypeAdapter
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from concord import retention
from concord.assessment.jobs import Job, Queue, assessment_of, work_of
from concord.storage import DeadLetter
from concord.storage.redis import keys
from concord.storage.redis.clients import answered, script, storage_faults
from concord.tracing import carrier
from concord.trust.redaction import redact

# Word of jobs that have ended, by Redis's Pub/Sub, so that nobody polls for their results.
#
# The word is a hint: it is lost with a connection.

logger = logging.getLogger(__name__)

_TURN_S: Final = 5.0
"""How long one read waits for word; less than the time limit of an answer from Redis."""

_PAUSE_S: Final = 1.0
"""After a fault."""


async def tell_ended(redis: Redis, job_id: str) -> None:
    """Tells who waits for a job's result that the job has ended. Raises nothing."""
    with suppress(RedisError, OSError):
        await redis.publish(keys.ended_jobs(assessment_of(job_id)), job_id)


class EndedJobs:
    """Hears of the ended jobs of a process's assessments, over one connection for all of them. Close it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._pubsub: PubSub | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._awaited: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def heard_of(self, assessment_id: str) -> AsyncIterator[None]:
        """Hears of an assessment's jobs in the block. Raises StorageUnavailableError."""
        channel = keys.ended_jobs(assessment_id)
        self._pubsub = self._pubsub or self._redis.pubsub(ignore_subscribe_messages=True)
        await answered(self._pubsub.subscribe(channel))
        if self._hearing is None:  # for as long as the process runs, and not on the account of this assessment
            self._hearing = asyncio.create_task(self._hear(self._pubsub), context=Context())
        try:
            yield
        finally:
            with suppress(RedisError, OSError):
                await self._pubsub.unsubscribe(channel)

    @contextmanager
    def awaited(self, job_id: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever a job has ended that works on the same as this one."""
        ended = self._awaited[work_of(job_id)] = asyncio.Event()
        try:
            yield ended
        finally:
            if self._awaited.get(work_of(job_id)) is ended:
                del self._awaited[work_of(job_id)]

    async def aclose(self) -> None:
        """Hears no more."""
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.gather(self._hearing, return_exceptions=True)
        if self._pubsub is not None:
            await self._pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py leaves it so

    async def _hear(self, pubsub: PubSub) -> None:
        while True:
            try:
                self._note(await pubsub.get_message(timeout=_TURN_S))
            except (RedisError, OSError) as error:
                logger.warning("results are polled for until Redis answers: %s", error)
                await asyncio.sleep(_PAUSE_S)

    def _note(self, message: dict[str, Any] | None) -> None:
        if message is not None and (ended := self._awaited.get(work_of(message["data"].decode()))) is not None:
            ended.set()


# The queue: enqueueing, depth, and dead letters.

_MAX_DUE: Final = 64
"""Entries of the list that wakes workers: none waits while there are more jobs than places."""

# Jobs are due by Redis's clock, since those of gateways and workers may differ by hours. arq asks its own.
NOW_MS: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""

# The keys and values of `ArqRedis.enqueue_job`, which watches a key for this, in three round trips.
_ENQUEUE: Final = f"""{NOW_MS}
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('PSETEX', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], now, ARGV[3])
redis.call('LPUSH', KEYS[4], '')
redis.call('LTRIM', KEYS[4], 0, ARGV[4] - 1)
redis.call('PEXPIRE', KEYS[4], ARGV[1])
return 1
"""

_DEFER: Final = f"{NOW_MS}redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])"


_JOB: Final = TypeAdapter(Job)


class ArqJobQueue:
    """The `JobQueue` port on arq. Jobs are JSON, not pickle: write access to Redis must not allow code execution."""

    def __init__(self, redis: ArqRedis) -> None:
        self.ended = EndedJobs(redis)
        self._redis = redis
        self._enqueue = script(redis, _ENQUEUE)
        self._defer = script(redis, _DEFER)

    async def enqueue(self, job: Job) -> bool:
        """See `JobQueue.enqueue`. The job carries the current span, if Concord traces its own work."""
        arguments = (dict(job.arguments), *filter(None, [carrier()]))
        job_id = job.job_id
        queued_ms = round(1000 * time.time())  # for arq's log alone
        body = serialize_job(job.function, arguments, {}, None, queued_ms, serializer=self._redis.job_serializer)
        names = [job_key_prefix + job_id, result_key_prefix + job_id, keys.queue(job.queue), keys.due(job.queue)]
        return bool(await self._enqueue(names, [self._redis.expires_extra_ms, body, job_id, _MAX_DUE]))

    async def defer(self, job: Job, delay_s: float) -> None:
        """Has a queued job run again after `delay_s`, and not before."""
        await self._defer([keys.queue(job.queue)], [job.job_id, round(1000 * delay_s)])

    async def ping(self) -> None:
        """Raises StorageUnavailableError unless the queues' Redis answers."""
        await answered(self._redis.ping())

    async def depth(self, queue: Queue) -> int:
        """See `JobQueue.depth`."""
        return int(await answered(self._redis.zcard(keys.queue(queue))))

    async def worker_note(self, queue: Queue) -> str | None:
        """See `JobQueue.worker_note`."""
        note: bytes | None = await answered(self._redis.get(keys.health(queue)))
        return None if note is None else note.decode()

    async def oldest_s(self, queue: Queue) -> float:
        """See `JobQueue.oldest_s`. arq scores a job by the time from which it is due (Unix milliseconds)."""
        first = await answered(self._redis.zrange(keys.queue(queue), 0, 0, withscores=True))
        if not first:
            return 0.0
        seconds, _ = await answered(self._redis.time())
        return max(0.0, float(seconds - first[0][1] / 1000))

    async def bury(self, job: Job, error: str) -> None:
        """Writes a dead letter, and drops the oldest beyond `retention.DEAD_LETTERS`."""
        written = redact(json.dumps({"job": _JOB.dump_python(job, mode="json"), "error": error}))
        with storage_faults():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.xadd(keys.DEAD_LETTERS, {"letter": written}, maxlen=retention.DEAD_LETTERS)
                pipe.expire(keys.DEAD_LETTERS, retention.DEAD_LETTERS_S)
                await pipe.execute()

    async def count_dead_letters(self) -> int:
        """See `JobQueue.count_dead_letters`."""
        return int(await answered(self._redis.xlen(keys.DEAD_LETTERS)))

    async def dead_letters(self) -> list[DeadLetter]:
        """See `JobQueue.dead_letters`."""
        entries = await answered(self._redis.xrange(keys.DEAD_LETTERS))
        letters = [(entry_id.decode(), json.loads(fields[b"letter"])) for entry_id, fields in entries]
        return [DeadLetter(name, _JOB.validate_python(each["job"]), each["error"]) for name, each in letters]

    async def replay(self, letter: DeadLetter) -> None:
        """See `JobQueue.replay`."""
        await self.enqueue(letter.job)
        await answered(self._redis.xdel(keys.DEAD_LETTERS, letter.letter_id))
