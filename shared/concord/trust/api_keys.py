"""API keys: what tells an agent's known callers from everybody else, and one of them from another."""

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
    """The keys that a service accepts. Without any, nobody is known."""

    def __init__(self, configured: SecretStr) -> None:
        """`configured`: comma-separated. Raises ValueError for a key that is too short."""
        keys = [key for part in configured.get_secret_value().split(",") if (key := part.strip())]
        if any(len(key) < MIN_KEY_LENGTH for key in keys):
            raise ValueError(f"an API key must have at least {MIN_KEY_LENGTH} characters")
        for key in keys:
            learn_secret(key)
        self._owners = [_digest(key) for key in keys]

    def __bool__(self) -> bool:
        """Whether a key is needed."""
        return bool(self._owners)

    def owner(self, headers: Mapping[str, str]) -> str | None:
        """The digest of the accepted key that a request was sent with, None without one.

        It is sent as `Authorization: Bearer KEY` or `X-API-Key: KEY`. How long it takes does not tell how much of a key
        is right: digests are compared, each of them, in constant time.
        """
        scheme, _, key = headers.get("authorization", "").partition(" ")
        shown = [
            _digest(each.strip()) for each in (key if scheme.lower() == _BEARER else "", headers.get(KEY_HEADER, ""))
        ]
        known = [owner for owner in self._owners for each in shown if hmac.compare_digest(owner, each)]
        return known[0] if known else None


def _digest(key: str) -> str:
    return blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
