"""Word of jobs that have ended, by Redis's Pub/Sub, so that nobody polls for their results.

The word is a hint: it is lost with a connection.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from concord.assessment.jobs import assessment_of, work_of
from concord.storage.redis import keys
from concord.storage.redis.faults import storage_faults

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
        with storage_faults():
            await self._pubsub.subscribe(channel)
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
