"""The token secret shared by the services of a stack, if none is configured. It is created in Redis on first use."""

import secrets
from collections.abc import Awaitable
from typing import Final, cast

from redis.asyncio import Redis

from concord.storage.redis import keys
from concord.storage.redis.faults import storage_faults

TTL_S: Final = 7 * 24 * 3600
"""Longer than any token is valid. Each use renews it."""


class RedisSecretStore:
    """The `SecretStore` port on a Redis key."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def token_secret(self) -> str:
        """See `SecretStore.token_secret`."""
        with storage_faults():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.set(keys.TOKEN_SECRET, secrets.token_urlsafe(48), nx=True)
                pipe.getex(keys.TOKEN_SECRET, ex=TTL_S)
                _, secret = await cast(Awaitable[tuple[object, bytes]], pipe.execute())
        return secret.decode()
