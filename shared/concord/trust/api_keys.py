"""API keys of an agent's clients."""

import hmac
from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

from pydantic import SecretStr

from concord.trust.redaction import learn_secret

MIN_KEY_LENGTH: Final = 16
KEY_HEADER: Final = "x-api-key"

_BEARER: Final = "bearer"


class ApiKeys:
    """The keys that a service accepts. Without any, all callers are anonymous."""

    def __init__(self, configured: SecretStr) -> None:
        """`configured` is comma-separated. Raises ValueError for a key that is too short."""
        keys = [key for part in configured.get_secret_value().split(",") if (key := part.strip())]
        if any(len(key) < MIN_KEY_LENGTH for key in keys):
            raise ValueError(f"an API key must have at least {MIN_KEY_LENGTH} characters")
        for key in keys:
            learn_secret(key)
        self._owners = [owner_of(key) for key in keys]

    def __bool__(self) -> bool:
        """Whether callers need a key."""
        return bool(self._owners)

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return len(self._owners) > 1

    def owner(self, headers: Mapping[str, str]) -> str | None:
        """The digest of the accepted key in a request, or None.

        Clients send `Authorization: Bearer KEY` or `X-API-Key: KEY`. Digests are compared in constant time, so response
        times reveal nothing about a key.
        """
        known = [owner for owner in self._owners if shows(headers, owner)]
        return known[0] if known else None


def owner_of(key: str) -> str:
    """The digest that stands for the holder of a key."""
    return blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def shows(headers: Mapping[str, str], owner: str) -> bool:
    """Whether a request shows the key of an owner. The comparison takes constant time."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    shown = (key if scheme.lower() == _BEARER else "", headers.get(KEY_HEADER, ""))
    return any(hmac.compare_digest(owner, owner_of(each.strip())) for each in shown)
