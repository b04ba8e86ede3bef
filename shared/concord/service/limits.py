"""Bounds on what a caller may send: the size of a body, checked as it arrives."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class BodyLimit:
    """ASGI middleware: 413 for a body over `max_bytes`, by its declared length or, without one, as it comes in."""

    def __init__(self, app: App, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_length(scope) > self._max_bytes:
            await _refuse(send)
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
    """A body that ends where it grows too large; the request is refused whatever the app then answers."""

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
        """Reads on for as much again: a caller still sending when we close would see a reset and no answer."""
        while message.get("more_body", False) and self._left > -self._max_bytes:
            message = await self._receive()
            self._left -= len(message.get("body", b""))


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(send: Send) -> None:
    body = b'{"detail":"the body is too large"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
