"""The keyring: what the services of one stack sign and check tokens with, configured or made by the stack itself."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from pydantic import SecretStr

from concord.trust.tokens import Claims, TokenIssuer, TokenVerifier, parse_secrets

SharedSecret = Callable[[], Awaitable[str]]
"""The secret that a stack without a configured one shares: made by whoever asks first."""

_ASK_AGAIN_S: Final = 1.0
"""How often a token with an unknown key may make us look whether the shared secret is another by now."""


class Keyring:
    """Issues and verifies tokens with the configured secrets, else with the one that the stack shares."""

    def __init__(self, configured: SecretStr, shared: SharedSecret) -> None:
        """`configured`: comma-separated; the first signs, all verify. Raises ValueError for one that is too short."""
        self._shared = shared
        self._configured = parse_secrets(configured.get_secret_value())
        self._verifier = TokenVerifier(self._configured)
        self._asked_at = float("-inf")

    async def issuer(self) -> TokenIssuer:
        """An issuer by the secret of the moment. Raises StorageUnavailableError where that has to be asked for."""
        return TokenIssuer(self._configured or [SecretStr(await self._shared())])

    async def verify(self, token: str) -> Claims:
        """What a token claims. Raises TokenExpiredError, TokenRejectedError, and StorageUnavailableError as above."""
        if not self._configured and not self._verifier.knows(token) and self._may_ask():
            self._verifier = TokenVerifier([SecretStr(await self._shared())])
            self._asked_at = time.monotonic()
        return self._verifier.verify(token)

    def _may_ask(self) -> bool:
        return time.monotonic() - self._asked_at >= _ASK_AGAIN_S
