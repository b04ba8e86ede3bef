"""The token secret shared by the services of a stack, if none is configured. It is created in Redis on first use."""

import secrets
from typing import Final

from redis.asyncio import Redis

from concord import retention
from concord.storage.redis import keys
from concord.storage.redis.faults import storage_faults

# A script, because the client of a Redis Cluster has no transactions.
_CREATE: Final = """
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GETEX', KEYS[1], 'EX', ARGV[2])
"""


class RedisSecretStore:
    """The `SecretStore` port on a Redis key."""

    def __init__(self, redis: Redis) -> None:
        self._secret = redis.register_script(_CREATE)

    async def token_secret(self) -> str:
        """See `SecretStore.token_secret`."""
        with storage_faults():
            secret: bytes = await self._secret(
                [keys.TOKEN_SECRET], [secrets.token_urlsafe(48), retention.TOKEN_SECRET_S]
            )
        return secret.decode()
