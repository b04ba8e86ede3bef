"""Tokens: what tells one participant of one trial from every other caller. Signed, expiring, and carrying its scope."""

import time
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
"""HS256 wants a key as long as its digest (RFC 7518, section 3.2)."""

_ALGORITHM: Final = "HS256"
_MAX_TOKEN_LENGTH: Final = 2048
_OPTIONS: Final[Options] = {"require": ["aid", "tid", "sub", "exp"], "verify_exp": False}
"""Expiry is looked at each time, the rest once."""

_REMEMBERED: Final = 1024
_LEEWAY_S: Final = 5
"""The clocks of two machines differ."""


class TokenRejectedError(Exception):
    """The token is none of ours. The message says why, and never holds the token."""


class TokenExpiredError(TokenRejectedError):
    """The token was ours, and its time is over."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Whom a token speaks for, and where: one agent, in one trace of one assessment. `expires_at` in Unix seconds."""

    assessment_id: str
    trace_id: str
    agent_id: str
    expires_at: float


class TokenIssuer:
    """Makes tokens. The first secret signs."""

    def __init__(self, secrets: Sequence[SecretStr]) -> None:
        self._secret = secrets[0].get_secret_value()

    def issue(self, claims: Claims) -> SecretStr:
        """The token that claims so: the same claims give the same token. It is fit for a URL's path as it is."""
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
    """Reads tokens. Each of the secrets is good, so that one can be replaced while tokens of the other are about."""

    def __init__(self, secrets: Sequence[SecretStr]) -> None:
        self._secrets = {_key_id(secret): secret for secret in (each.get_secret_value() for each in secrets)}
        # A reporter shows the same token with every batch. Only good ones are kept: a refusal is not remembered.
        self._read = lru_cache(_REMEMBERED)(self._decode)

    def knows(self, token: str) -> bool:
        """Whether the token names one of the secrets, which says nothing of whether it was signed with it."""
        return _named_key(token) in self._secrets

    def verify(self, token: str) -> Claims:
        """What a token claims, its signature compared in constant time.

        Raises TokenExpiredError, TokenRejectedError.
        """
        claims = self._read(token)
        if claims.expires_at <= time.time() - _LEEWAY_S:
            raise TokenExpiredError("the token has expired")
        learn_token(token)
        return claims

    def _decode(self, token: str) -> Claims:
        secret = self._secrets.get(_named_key(token))
        if secret is None:
            raise TokenRejectedError("the token is not one of this assessor's")
        try:
            claims = jwt.decode(token.removeprefix(TOKEN_PREFIX), secret, [_ALGORITHM], options=_OPTIONS)
        except jwt.InvalidTokenError as error:
            raise TokenRejectedError("the token is not one of this assessor's") from error
        return Claims(claims["aid"], claims["tid"], claims["sub"], float(claims["exp"]))


def parse_secrets(text: str) -> list[SecretStr]:
    """The secrets in a comma-separated setting. Raises ValueError for one that is too short."""
    secrets = [secret for part in text.split(",") if (secret := part.strip())]
    if any(len(secret) < MIN_SECRET_LENGTH for secret in secrets):
        raise ValueError(f"a token secret must have at least {MIN_SECRET_LENGTH} characters")
    return [SecretStr(secret) for secret in secrets]


def _key_id(secret: str) -> str:
    return blake2b(secret.encode(), digest_size=6).hexdigest()


def _named_key(token: str) -> str:
    """The key id in a token's unverified header; "" where there is none."""
    if len(token) > _MAX_TOKEN_LENGTH or not token.startswith(TOKEN_PREFIX):
        return ""
    try:
        return str(jwt.get_unverified_header(token.removeprefix(TOKEN_PREFIX)).get("kid", ""))
    except jwt.InvalidTokenError:
        return ""
