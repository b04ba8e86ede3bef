"""Limits on request bodies, enforced as they arrive."""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DISCARD_S: Final = 30.0
"""How long the rest of a refused body is read: the default of nginx's `lingering_time`."""


class BodyLimit:
    """ASGI middleware: answers 413 to a body over `max_bytes`, by its declared length or its actual size."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles or refuses a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_length(scope) > self._max_bytes:
            # A caller that expects `100 Continue` has not begun to send its body.
            waits = _header(scope, b"expect").lower() == b"100-continue"
            await _refuse(receive, send, more_body=not waits)
            return
        left = self._max_bytes
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
