"""What all processes on one Redis have in common: the agents' registry, the token secret, and the time."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, cast

from pydantic import BaseModel
from redis.asyncio import Redis

from concord import retention
from concord.errors import StorageUnavailableError
from concord.storage.ports import RegistryFullError
from concord.storage.redis import keys
from concord.storage.redis.clients import storage_faults
from concord.trust.redaction import redact
from concord.trust.tokens import Now
from concord.wire.roster import RosterEntry

# The agent registry in Redis: one hash per scope, with an expiry time for each entry.

MAX_AGENTS: Final = 1000
"""Agents per scope. Anybody can register in the open scope, so it needs a limit."""


MAX_AGENTS_PER_CALLER: Final = 100


# A script, because the client of a Redis Cluster has no transactions.
_REGISTER: Final = """
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""


class _Registration(BaseModel):
    entry: RosterEntry
    expires_at: float
    by: str = ""


class RedisAgentRegistry:
    """The `AgentRegistry` port on Redis hashes."""

    def __init__(self, redis: Redis, now: Now) -> None:
        self._redis = redis
        self._now = now
        self._register = redis.register_script(_REGISTER)

    async def register(self, scope: str, entries: Sequence[RosterEntry], *, by: str = "") -> float:
        """See `AgentRegistry.register`."""
        expires_at = await self._now() + retention.REGISTRATION_S
        fresh = {each.id: _Registration(entry=each, expires_at=expires_at, by=by) for each in entries}
        known = {each.entry.id: each for each in await self._registrations(scope)}
        _check_room(scope, known | fresh, by)
        written = [part for name, each in fresh.items() for part in (name, redact(each.model_dump_json()))]
        with storage_faults():
            await self._register([keys.agents(scope)], [retention.REGISTRATION_S, *written])
        return retention.REGISTRATION_S

    async def agents(self, scope: str) -> list[RosterEntry]:
        """See `AgentRegistry.agents`."""
        return sorted((each.entry for each in await self._registrations(scope)), key=lambda entry: entry.id)

    async def _registrations(self, scope: str) -> list[_Registration]:
        with storage_faults():
            stored = await cast(Awaitable[dict[bytes, bytes]], self._redis.hgetall(keys.agents(scope)))
        now = await self._now()
        return [each for each in map(_Registration.model_validate_json, stored.values()) if each.expires_at > now]


def _check_room(scope: str, registrations: Mapping[str, _Registration], by: str) -> None:
    if len(registrations) > MAX_AGENTS:
        raise RegistryFullError(f"scope {scope!r} has the maximum of {MAX_AGENTS} agents")
    if by and sum(each.by == by for each in registrations.values()) > MAX_AGENTS_PER_CALLER:
        raise RegistryFullError(f"scope {scope!r} has the maximum of {MAX_AGENTS_PER_CALLER} agents of one caller")


# The token secret shared by the services of a stack, if none is configured. It is created in Redis on first use.

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


# The common time of all processes on one Redis: machines disagree about the time, and each may jump.

RENEW_S: Final = 60.0

_PRECISE_S: Final = 1.0
"""An answer that took longer tells the time less precisely than the offset that it would replace."""


class RedisClock:
    """Redis's TIME, kept as an offset to this machine's monotonic clock. The first use each minute renews it."""

    def __init__(self, redis: Redis, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._monotonic = monotonic
        self._offset_s: float | None = None
        self._renew_at = float("-inf")
        self._first = asyncio.Lock()

    async def now(self) -> float:
        """The time (Unix seconds). Raises StorageUnavailableError if Redis has never told it."""
        if self._offset_s is None:
            async with (
                self._first
            ):  # two readings would differ by milliseconds, and the later time could be the earlier
                if self._offset_s is None:
                    self._renew_at = self._monotonic() + RENEW_S
                    self._offset_s = await self._read()
        elif self._monotonic() >= self._renew_at:
            self._renew_at = self._monotonic() + RENEW_S  # so that one caller asks, and the others go on
            with suppress(StorageUnavailableError):
                self._offset_s = await self._read()
        return self._monotonic() + self._offset_s

    async def _read(self) -> float:
        began = self._monotonic()
        with storage_faults():
            seconds, microseconds = await self._redis.time()
        ended = self._monotonic()
        if self._offset_s is not None and ended - began > _PRECISE_S:
            return self._offset_s
        return float(seconds + microseconds / 1e6 - (began + ended) / 2)
