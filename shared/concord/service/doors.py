"""Doors: where a participant's token opens something, and that it opens nothing else."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from concord.trust.redaction import holds_token

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_BODY: Final = b'{"detail":"a participant\'s token opens nothing here"}'
_HEADERS: Final = [(b"content-type", b"application/json"), (b"content-length", str(len(_BODY)).encode())]
_DECODINGS: Final = 3


class TokenDoor:
    """ASGI middleware: 403 for a request that carries a participant's token, but where `opens` says of its path.

    It carries one with any header, or anywhere in its URL. Which address it comes from says nothing: on one machine, a
    client and the participants that it has assessed share theirs.
    """

    def __init__(self, app: App, opens: Callable[[str], bool]) -> None:
        self._app = app
        self._opens = opens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
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
