"""Tokens: signed and expiring credentials of one participant in one trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import jwt
from jwt.types import Options
from pydantic import SecretStr

from concord.trust.redaction import TOKEN_PREFIX, learn_token

MIN_SECRET_LENGTH: Final = 32
"""HS256 needs a key as long as its digest (RFC 7518, section 3.2)."""

_ALGORITHM: Final = "HS256"
_MAX_TOKEN_LENGTH: Final = 2048
_OPTIONS: Final[Options] = {"require": ["aid", "tid", "sub", "exp"], "verify_exp": False}
"""Expiry is checked on each use (`TokenKeys.verify`), the signature once."""

_REMEMBERED: Final = 1024


class TokenRejectedError(Exception):
    """The token is invalid. The message says why, and never contains the token."""


class TokenExpiredError(TokenRejectedError):
    """The token has expired."""


@dataclass(frozen=True, slots=True)
class Claims:
    """A token's claims: one agent, in one trace of one assessment. `expires_at` in Unix seconds."""

    assessment_id: str
    trace_id: str
    agent_id: str
    expires_at: float


class TokenIssuer:
    """Issues tokens, signed with the first secret."""

    def __init__(self, secrets: Sequence[SecretStr]) -> None:
        self._secret = secrets[0].get_secret_value()

    def issue(self, claims: Claims) -> SecretStr:
        """The token with these claims, the same on every call. It can be used in a URL path unescaped."""
        written = {
            "aid": claims.assessment_id,
            "tid": claims.trace_id,
            "sub": claims.agent_id,
            "exp": int(claims.expires_at),
        }
        token = TOKEN_PREFIX + jwt.encode(written, self._secret, _ALGORITHM, headers={"kid": _key_id(self._secret)})
        learn_token(token)
        return SecretStr(token)


class TokenVerifier:
    """Verifies tokens. Any of the secrets is accepted, so that secrets can be rotated."""

    def __init__(self, secrets: Sequence[SecretStr]) -> None:
        self._secrets = {_key_id(secret): secret for secret in (each.get_secret_value() for each in secrets)}
        # A reporter sends the same token with every batch. Only accepted tokens are cached.
        self._read = lru_cache(_REMEMBERED)(self._decode)

    def knows(self, token: str) -> bool:
        """Whether the token names one of the secrets. That does not mean that it was signed with it."""
        return _named_key(token) in self._secrets

    def read(self, token: str) -> Claims:
        """The claims of a token, expired or not. The signature is compared in constant time. Raises
        TokenRejectedError."""
        return self._read(token)

    def _decode(self, token: str) -> Claims:
        secret = self._secrets.get(_named_key(token))
        if secret is None:
            raise TokenRejectedError("this assessor did not issue the token")
        try:
            claims = jwt.decode(token.removeprefix(TOKEN_PREFIX), secret, [_ALGORITHM], options=_OPTIONS)
        except jwt.InvalidTokenError as error:
            raise TokenRejectedError("this assessor did not issue the token") from error
        return Claims(claims["aid"], claims["tid"], claims["sub"], float(claims["exp"]))


def parse_secrets(text: str) -> list[SecretStr]:
    """Parses a comma-separated setting. Raises ValueError for a secret that is too short."""
    secrets = [secret for part in text.split(",") if (secret := part.strip())]
    if any(len(secret) < MIN_SECRET_LENGTH for secret in secrets):
        raise ValueError(f"a token secret must have at least {MIN_SECRET_LENGTH} characters")
    return [SecretStr(secret) for secret in secrets]


def _key_id(secret: str) -> str:
    return blake2b(secret.encode(), digest_size=6).hexdigest()


def _named_key(token: str) -> str:
    """The key id in a token's unverified header, or ""."""
    if len(token) > _MAX_TOKEN_LENGTH or not token.startswith(TOKEN_PREFIX):
        return ""
    try:
        return str(jwt.get_unverified_header(token.removeprefix(TOKEN_PREFIX)).get("kid", ""))
    except jwt.InvalidTokenError:
        return ""
