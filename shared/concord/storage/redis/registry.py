"""The agents' registry in Redis, and the token secret that the services of a stack share."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel
from redis.asyncio import Redis

from concord import retention
from concord.storage import RegistryFullError
from concord.storage.redis import keys
from concord.storage.redis.clients import SAVE_FIELDS, answered, script
from concord.trust.redaction import redact
from concord.trust.tokens import Now
from concord.wire.roster import RosterEntry

# The registry: one hash per scope, with an expiry time for each entry.

MAX_AGENTS: Final = 1000
"""Agents per scope. Anybody can register in the open scope, so it needs a limit."""

MAX_AGENTS_PER_CALLER: Final = 100


class _Registration(BaseModel):
    entry: RosterEntry
    expires_at: float
    by: str = ""


class RedisAgentRegistry:
    """The `AgentRegistry` port on Redis hashes."""

    def __init__(self, redis: Redis, now: Now) -> None:
        self._redis = redis
        self._now = now
        self._register = script(redis, SAVE_FIELDS)

    async def register(self, scope: str, entries: Sequence[RosterEntry], *, by: str = "") -> float:
        """See `AgentRegistry.register`."""
        expires_at = await self._now() + retention.REGISTRATION_S
        fresh = {each.id: _Registration(entry=each, expires_at=expires_at, by=by) for each in entries}
        known = {each.entry.id: each for each in await self._registrations(scope)}
        _check_room(scope, known | fresh, by)
        written = [part for name, each in fresh.items() for part in (name, redact(each.model_dump_json()))]
        await self._register([keys.agents(scope)], [retention.REGISTRATION_S, *written])
        return retention.REGISTRATION_S

    async def agents(self, scope: str) -> list[RosterEntry]:
        """See `AgentRegistry.agents`."""
        return sorted((each.entry for each in await self._registrations(scope)), key=lambda entry: entry.id)

    async def _registrations(self, scope: str) -> list[_Registration]:
        stored: dict[bytes, bytes] = await answered(self._redis.hgetall(keys.agents(scope)))
        now = await self._now()
        return [each for each in map(_Registration.model_validate_json, stored.values()) if each.expires_at > now]


def _check_room(scope: str, registrations: Mapping[str, _Registration], by: str) -> None:
    if len(registrations) > MAX_AGENTS:
        raise RegistryFullError(f"scope {scope!r} has the maximum of {MAX_AGENTS} agents")
    if by and sum(each.by == by for each in registrations.values()) > MAX_AGENTS_PER_CALLER:
        raise RegistryFullError(f"scope {scope!r} has the maximum of {MAX_AGENTS_PER_CALLER} agents of one caller")


# The token secret shared by the services of a stack, if none is configured. It is created in Redis on first use.

_CREATE: Final = """
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GETEX', KEYS[1], 'EX', ARGV[2])
"""


class RedisSecretStore:
    """The `SecretStore` port on a Redis key."""

    def __init__(self, redis: Redis) -> None:
        self._secret = script(redis, _CREATE)

    async def token_secret(self) -> str:
        """See `SecretStore.token_secret`."""
        secret: bytes = await self._secret([keys.TOKEN_SECRET], [secrets.token_urlsafe(48), retention.TOKEN_SECRET_S])
        return secret.decode()
