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
        self._owners = [_digest(key) for key in keys]

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
        scheme, _, key = headers.get("authorization", "").partition(" ")
        shown = [
            _digest(each.strip()) for each in (key if scheme.lower() == _BEARER else "", headers.get(KEY_HEADER, ""))
        ]
        known = [owner for owner in self._owners for each in shown if hmac.compare_digest(owner, each)]
        return known[0] if known else None


def _digest(key: str) -> str:
    return blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
