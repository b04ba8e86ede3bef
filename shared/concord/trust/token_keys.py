"""The secrets with which the services of a stack sign and verify tokens: configured ones, or one that they share."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from pydantic import SecretStr

from concord.trust.redaction import learn_token
from concord.trust.tokens import Claims, TokenExpiredError, TokenIssuer, TokenVerifier, parse_secrets

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
