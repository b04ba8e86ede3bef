"""Restricts participants' tokens to the paths that accept them."""

from collections.abc import Callable
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from concord.trust.redaction import holds_token

_BODY: Final = b'{"detail":"a participant\'s token accepts nothing here"}'
_HEADERS: Final = [(b"content-type", b"application/json"), (b"content-length", str(len(_BODY)).encode())]
_DECODINGS: Final = 3


class TokenPathLimit:
    """ASGI middleware: answers 403 to a request with a participant's token, unless `accepts` accepts its path.

    The token may be in any header or anywhere in the URL. Source addresses do not matter: on one machine, a client and
    its participants share one.
    """

    def __init__(self, app: ASGIApp, accepts: Callable[[str], bool]) -> None:
        self._app = app
        self._opens = accepts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles or refuses a request."""
        if scope["type"] == "http" and not self._opens(scope["path"]) and _carries_token(scope):
            await send({"type": "http.response.start", "status": 403, "headers": _HEADERS})
            await send({"type": "http.response.body", "body": _BODY})
            return
        await self._app(scope, receive, send)


def _carries_token(scope: Scope) -> bool:
    url: bytes = scope.get("raw_path", b"") + b"?" + scope.get("query_string", b"")
    for _ in range(_DECODINGS):
        if holds_token(url):
            return True
        url = unquote_to_bytes(url)
    return any(holds_token(value) for _, value in scope["headers"])
