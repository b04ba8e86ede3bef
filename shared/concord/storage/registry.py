"""The agent registry in Redis: a hash per scope, each entry with the time at which it is forgotten."""

import time
from collections.abc import Awaitable, Sequence
from typing import Final, cast

from pydantic import BaseModel
from redis.asyncio import Redis

from concord.identity import RosterEntry
from concord.storage import keys
from concord.storage.faults import storage_faults
from concord.storage.ports import RegistryFullError

TTL_S: Final = 3600
MAX_AGENTS: Final = 1000
"""Agents per scope. The open scope takes entries from anybody, so it must end somewhere."""


class _Registration(BaseModel):
    entry: RosterEntry
    expires_at: float


class RedisAgentRegistry:
    """The `AgentRegistry` port on Redis hashes."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def register(self, scope: str, entries: Sequence[RosterEntry]) -> None:
        """See `AgentRegistry.register`."""
        expires_at = time.time() + TTL_S
        fresh = {e.id: _Registration(entry=e, expires_at=expires_at).model_dump_json() for e in entries}
        current = {entry.id for entry in await self.agents(scope)}
        if len(current | fresh.keys()) > MAX_AGENTS:
            raise RegistryFullError(f"scope {scope!r} already has {len(current)} agents")
        with storage_faults():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hset(keys.agents(scope), mapping=fresh)
                pipe.expire(keys.agents(scope), TTL_S)
                await pipe.execute()

    async def agents(self, scope: str) -> list[RosterEntry]:
        """See `AgentRegistry.agents`."""
        with storage_faults():
            stored = await cast(Awaitable[dict[bytes, bytes]], self._redis.hgetall(keys.agents(scope)))
        registrations = map(_Registration.model_validate_json, stored.values())
        now = time.time()
        return sorted((r.entry for r in registrations if r.expires_at > now), key=lambda entry: entry.id)
