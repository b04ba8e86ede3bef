"""Tokens: signed and expiring credentials of one participant in one trial, until the trial is closed.

The gateway decides how long they are valid (`tokens_until` of a trial); the collector, for registrations of strangers.
"""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import jwt
from cachetools import FIFOCache, TTLCache
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
        self.read = lru_cache(_REMEMBERED)(self._decode)

    def knows(self, token: str) -> bool:
        """Whether the token names one of the secrets. That does not mean that it was signed with it."""
        return _named_key(token) in self._secrets

    def _decode(self, token: str) -> Claims:
        """The claims of a token, expired or not. The signature is compared in constant time. Raises
        TokenRejectedError."""
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


# The secrets with which the services of a stack sign and verify tokens: configured ones, or one that they share.

SharedSecret = Callable[[], Awaitable[str]]
"""Fetches the shared secret of a stack without configured ones; the first call creates it."""

Now = Callable[[], Awaitable[float]]
"""Fetches the common time of the processes of a stack (Unix seconds). Raises StorageUnavailableError."""

LEEWAY_S: Final = 5
"""How long a token is accepted after its expiry: processes learn the common time at different moments."""

_ASK_AGAIN_S: Final = 1.0
"""How long the shared secret is used to sign before it is fetched again; how often a token with an unknown key may
trigger another look at it."""


class TokenKeys:
    """Issues and verifies tokens with the configured secrets or the stack's shared secret."""

    def __init__(self, configured: SecretStr, shared: SharedSecret, now: Now) -> None:
        """`configured` is comma-separated: the first secret signs, all verify. Raises ValueError for one that is too
        short."""
        self.now = now
        self._shared = shared
        self._configured = parse_secrets(configured.get_secret_value())
        self._verifier = TokenVerifier(self._configured)
        self._asked_at = float("-inf")
        self._issuer: TokenIssuer | None = None
        self._fetched_at = float("-inf")

    async def issuer(self) -> TokenIssuer:
        """An issuer with the current secret. Raises StorageUnavailableError if the shared secret cannot be fetched."""
        if self._issuer is None or time.monotonic() - self._fetched_at >= _ASK_AGAIN_S:
            self._issuer = TokenIssuer(self._configured or [SecretStr(await self._shared())])
            self._fetched_at = time.monotonic()
        return self._issuer

    async def verify(self, token: str) -> Claims:
        """The claims of a token. Raises TokenExpiredError, TokenRejectedError, StorageUnavailableError."""
        if not self._configured and not self._verifier.knows(token) and self._may_ask():
            self._verifier = TokenVerifier([SecretStr(await self._shared())])
            self._asked_at = time.monotonic()
        claims = self._verifier.read(token)
        if claims.expires_at <= await self.now() - LEEWAY_S:
            raise TokenExpiredError("the token has expired")
        learn_token(token)
        return claims

    def _may_ask(self) -> bool:
        return time.monotonic() - self._asked_at >= _ASK_AGAIN_S


# Closed trials. A trial's tokens expire when the trial is closed.

IsClosed = Callable[[str], Awaitable[bool]]
"""Asks storage whether a trace is closed. Raises StorageUnavailableError."""

ASK_AGAIN_S: Final = 1.0
"""How long an open trial is cached as open: another process may close it."""

_MAX_REMEMBERED: Final = 4096


class ClosedTrials:
    """A cache of which trials are closed, which every call through the proxy needs to know."""

    def __init__(self, is_closed: IsClosed) -> None:
        self._ask_storage = is_closed
        self._open: TTLCache[str, None] = TTLCache(_MAX_REMEMBERED, ASK_AGAIN_S)
        self._closed: FIFOCache[str, None] = FIFOCache(_MAX_REMEMBERED)
        """Trace ids."""
        self._on_close: defaultdict[str, set[Callable[[], object]]] = defaultdict(set)

    def add(self, trace_id: str) -> None:
        """Records that a trial was closed."""
        self._open.pop(trace_id, None)
        self._closed[trace_id] = None

    @contextmanager
    def calling_on_close(self, trace_id: str, callback: Callable[[], object]) -> Iterator[None]:
        """Registers `callback` for the duration of the block: it is called when the trial is closed."""
        self._on_close[trace_id].add(callback)
        try:
            yield
        finally:
            self._on_close[trace_id].discard(callback)
            if not self._on_close[trace_id]:
                del self._on_close[trace_id]

    def notify(self, trace_id: str) -> None:
        """Calls the registered functions of a trial, which end its open calls."""
        for callback in list(self._on_close.get(trace_id, ())):
            callback()

    async def is_closed(self, trace_id: str) -> bool:
        """Whether the trial of that trace is closed. Raises StorageUnavailableError."""
        if trace_id in self._closed:
            return True
        if trace_id in self._open:
            return False
        if await self._ask_storage(trace_id):
            self.add(trace_id)
            return True
        if trace_id not in self._closed:  # unless it was closed here in the meantime
            self._open[trace_id] = None
        return trace_id in self._closed
