"""API keys and their permissions. A key's secret is stored as a hash only."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Final

from pydantic import Field

from concord_environment.core.faults import Conflict, Forbidden, Invalid, NotFound

PATTERN: Final = r"^(\*|[a-z][a-z_-]*)(:(\*|[a-z][a-z_-]*)){0,3}$"

Permission = Annotated[str, Field(pattern=PATTERN, max_length=100)]
"""A permission, or a pattern of permissions."""

ALL: Final = "*"


def grants(pattern: str, permission: str) -> bool:
    """Whether a pattern grants a permission, or everything that another pattern grants."""
    granted, asked = pattern.split(":"), permission.split(":")
    for place, part in enumerate(granted):
        if part == ALL and place == len(granted) - 1:
            return len(asked) > place
        if place >= len(asked) or part not in (ALL, asked[place]):
            return False
    return len(granted) == len(asked)


def any_grants(patterns: Iterable[str], permission: str) -> bool:
    """Whether one of the patterns grants a permission."""
    return any(grants(pattern, permission) for pattern in patterns)


MAX_KEYS: Final = 1_000
MIN_ADMIN_KEY: Final = 32
"""The minimum length of an admin key in characters."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, with the SHA-256 of its secret in place of the secret."""

    key_id: str
    name: str
    permissions: tuple[str, ...]
    created_at: datetime
    secret_hash: str
    created_by: str | None = None
    revoked_at: datetime | None = None

    def may(self, permission: str) -> bool:
        """Whether the key grants a permission."""
        return any_grants(self.permissions, permission)

    def require(self, permission: str) -> None:
        """Raises Forbidden, naming the permission, unless the key grants it."""
        if not self.may(permission):
            raise Forbidden(f"Permission denied: requires '{permission}'")


def hash_secret(secret: str) -> str:
    """The SHA-256 of a secret. Secrets have 256 random bits, so a fast hash is enough."""
    return sha256(secret.encode()).hexdigest()


class KeyRegistry:
    """The keys of one process. A new key has the first free id of a row that follows from the seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._keys: dict[str, Key] = {}
        self._by_hash: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def all(self) -> list[Key]:
        """Every key, including revoked ones, in the order of creation."""
        return list(self._keys.values())

    def authenticate(self, secret: str) -> Key | None:
        """The key with this secret, or None if it is unknown or revoked."""
        key_id = self._by_hash.get(hash_secret(secret))
        key = None if key_id is None else self._keys[key_id]
        return None if key is None or key.revoked_at is not None else key

    def set_admin(self, secret: str, now: datetime) -> Key:
        """Sets the admin key, which grants everything. Raises Invalid."""
        if len(secret) < MIN_ADMIN_KEY:
            raise Invalid(f"the admin key needs at least {MIN_ADMIN_KEY} characters")
        return self._store(Key(self._id(0), "admin", (ALL,), now, hash_secret(secret)))

    def share_admin(self, other: "KeyRegistry") -> None:
        """Makes the admin key of another registry the admin key of this one. Raises NotFound if it has none."""
        self._store(replace(other.get(other._id(0)), key_id=self._id(0)))

    def create(self, name: str, permissions: Sequence[str], creator: Key, now: datetime) -> tuple[Key, str]:
        """Returns a new key and its secret. Raises Conflict, or Forbidden if `creator` lacks one of the permissions."""
        if len(self._keys) >= MAX_KEYS:
            raise Conflict(f"there are {MAX_KEYS} keys already")
        for permission in permissions:
            if not creator.may(permission):
                raise Forbidden(f"Permission denied: cannot grant '{permission}' without having it")
        secret = secrets.token_hex(32)
        key = Key(self._free_id(), name, tuple(permissions), now, hash_secret(secret), creator.key_id)
        return self._store(key), secret

    def get(self, key_id: str) -> Key:
        """The key with this id. Raises NotFound."""
        key = self._keys.get(key_id)
        if key is None:
            raise NotFound(f"there is no key {key_id}")
        return key

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Revokes a key. Raises NotFound for an unknown key, Conflict for a revoked one."""
        key = self.get(key_id)
        if key.revoked_at is not None:
            raise Conflict(f"the key {key_id} is revoked already")
        return self._store(replace(key, revoked_at=now))

    def forget_revoked(self) -> None:
        """Removes the revoked keys. New keys get their ids."""
        revoked = [key for key in self._keys.values() if key.revoked_at is not None]
        for key in revoked:
            del self._keys[key.key_id]
            del self._by_hash[key.secret_hash]

    def is_admin(self, key_id: str) -> bool:
        """Whether this is the id of the admin key."""
        return key_id == self._id(0)

    def _store(self, key: Key) -> Key:
        self._keys[key.key_id] = key
        self._by_hash[key.secret_hash] = key.key_id
        return key

    def _free_id(self) -> str:
        return next(key_id for key_id in map(self._id, range(1, MAX_KEYS + 1)) if key_id not in self._keys)

    def _id(self, count: int) -> str:
        return "ues_" + sha256(f"key {self._seed} {count}".encode()).hexdigest()[:16]
