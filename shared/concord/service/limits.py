"""Limits on request bodies, enforced as they arrive."""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DRAIN_S: Final = 5.0
"""How long the rest of a refused request is read."""


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
            await _refuse_early(scope, receive, send, self._max_bytes)
            return
        counted = _CountedBody(receive, self._max_bytes)
        answered = False

        async def send_once(message: Message) -> None:
            nonlocal answered
            if counted.exceeded and not answered:
                answered = True
                await _refuse(send)
            elif not counted.exceeded:
                answered = True
                await send(message)

        await self._app(scope, counted.receive, send_once)


class _CountedBody:
    """Ends a body at the limit; the request is refused whatever the app answers."""

    def __init__(self, receive: Receive, max_bytes: int) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._left = max_bytes
        self.exceeded = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.exceeded = True
                await self._drain(message)
                return {"type": "http.request", "body": b"", "more_body": False}
        return message

    async def _drain(self, message: Message) -> None:
        """Reads as much again: a caller still sending would see a connection reset instead of the answer."""
        while message.get("more_body", False) and self._left > -self._max_bytes:
            message = await self._receive()
            self._left -= len(message.get("body", b""))


def _declared_length(scope: Scope) -> int:
    length = _header(scope, b"content-length")
    return int(length) if length.isdigit() else 0


def _header(scope: Scope, wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")


async def _refuse_early(scope: Scope, receive: Receive, send: Send, drained_bytes: int) -> None:
    """Answers before the body, and reads some of it before the connection is closed.

    A caller still sending would see a connection reset. With `Expect: 100-continue`, it has not begun to send.
    """
    if _header(scope, b"expect").lower() == b"100-continue":
        await _refuse(send)
        return
    await _refuse(send, end=False)
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            more = True
            while more and drained_bytes > 0:
                message = await receive()
                drained_bytes -= len(message.get("body", b""))
                more = message.get("more_body", False)
    await send({"type": "http.response.body", "body": b""})


async def _refuse(send: Send, *, end: bool = True) -> None:
    body = b'{"detail":"the body is too large"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body, "more_body": not end})
