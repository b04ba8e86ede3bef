"""What stands before the endpoints of a service: limits on bodies, the paths that tokens open, and doubled slashes."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord.trust.redaction import holds_token

# Paths of URLs that were joined at a slash too many.


class OneLeadingSlash:
    """ASGI middleware: takes `//tasks` for `/tasks`. Clients join an agent's URL, which ends with a slash, and a path.

    It must be the outermost one: the others decide by the path.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request."""
        if scope["type"] == "http" and scope["path"].startswith("//"):
            raw = b"/" + scope.get("raw_path", b"").lstrip(b"/")
            scope = {**scope, "path": "/" + scope["path"].lstrip("/"), "raw_path": raw}
        await self._app(scope, receive, send)


# Restricts participants' tokens to the paths that accept them.

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


# Limits on request bodies, enforced as they arrive.

_DISCARD_S: Final = 30.0
"""How long the rest of a refused body is read: the default of nginx's `lingering_time`."""


class BodyLimit:
    """ASGI middleware: answers 413 to a body over `max_bytes`, by its declared length or its actual size.

    `others`: the limits of paths that have one of their own.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, others: Mapping[str, int] = MappingProxyType({})) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles or refuses a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left = self._others.get(scope["path"], self._max_bytes)
        if _declared_length(scope) > left:
            # A caller that expects `100 Continue` has not begun to send its body.
            waits = _header(scope, b"expect").lower() == b"100-continue"
            await _refuse(receive, send, more_body=not waits)
            return
        answered = False

        async def counted() -> Message:
            """The body, ended at the limit: the request is refused whatever the app answers."""
            nonlocal left, answered
            message = await receive()
            left -= len(message.get("body", b""))
            if left >= 0 or message["type"] != "http.request":
                return message
            if not answered:
                answered = True
                await _refuse(receive, send, more_body=message.get("more_body", False))
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send_unless_refused(message: Message) -> None:
            nonlocal answered
            if left >= 0:
                answered = True
                await send(message)

        await self._app(scope, counted, send_unless_refused)


def _declared_length(scope: Scope) -> int:
    length = _header(scope, b"content-length")
    return int(length) if length.isdigit() else 0


def _header(scope: Scope, wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")


async def _refuse(receive: Receive, send: Send, *, more_body: bool) -> None:
    """Answers at once, and discards the rest of the body before the connection is closed.

    A connection closed with data unread is reset, and its caller may lose an answer that it has not read yet.
    """
    body = b'{"detail":"the body is too large"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(_DISCARD_S):
            while more_body:
                more_body = (await receive()).get("more_body", False)
    await send({"type": "http.response.body", "body": b""})
