"""The language model's answer cache in Redis: one expiring key per answer."""

from typing import Final

from redis.asyncio import Redis

from concord import retention
from concord.storage.redis import keys
from concord.storage.redis.faults import storage_faults
from concord.trust.redaction import redact

MAX_ANSWER: Final = 65_536
"""The longest answer that is cached (characters)."""


class RedisAnswerCache:
    """The `AnswerCache` port on Redis strings."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def get(self, key: str) -> str | None:
        """See `AnswerCache.get`."""
        with storage_faults():
            answer: bytes | None = await self._redis.get(keys.answer(key))
        return None if answer is None else answer.decode(errors="replace")

    async def put(self, key: str, answer: str) -> None:
        """See `AnswerCache.put`."""
        if len(answer) <= MAX_ANSWER:
            with storage_faults():
                await self._redis.set(keys.answer(key), redact(answer).encode(), ex=retention.MODEL_ANSWER_S)
