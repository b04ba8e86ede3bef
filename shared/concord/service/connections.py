"""Connections of a server: one that sends no request ends, and callers cannot use up the process's descriptors."""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import ceil
from typing import Any, Final, TypeAlias, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_S: Final = 10.0
"""How long a connection may take for the head of a request, and how long it may pause in the body."""

PROBES: Final = frozenset({"/healthz", "/readyz", "/health"})

_MOST_DESCRIPTORS: Final = 65_536
_SHARE: Final = 4
"""A server takes this part of the descriptors: a carried call needs a second one, and there are files and Redis."""

_ANSWERED: Final = 0.75
"""The part of its connections on which a server answers requests. The others are left to probes, and to refusals."""

_FEWEST_LOOKS: Final = 4
"""How often a connection is looked at before it ends."""

_REFUSAL: Final = b'{"detail":"too many requests are being answered"}'

_Protocol: TypeAlias = Any
"""uvicorn's protocol, of httptools or h11: `transport`, `flow`, and the `cycle` of its latest request."""


def claim_descriptors() -> int:
    """Raises the process's limit of open files as far as it may, up to 65,536. Returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    now = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST_DESCRIPTORS if now == resource.RLIM_INFINITY else now


class Connections:
    """The connections of one server."""

    def __init__(self, most: int, *, request_s: float = REQUEST_S) -> None:
        """`most`: connections at a time; `request_s`: see `REQUEST_S`."""
        self._most = most
        self._look_s = min(1.0, request_s / _FEWEST_LOOKS)
        self._looks = ceil(request_s / self._look_s)
        self._open: dict[_Protocol, None] = {}
        self._incoming: dict[_Protocol, int] = {}
        """By connection whose request has not arrived as a whole, at how many looks in a row nothing had come."""
        self._answered = 0

    @classmethod
    def of_process(cls) -> "Connections":
        """For a server of this process, whose limit of open files it raises."""
        return cls(claim_descriptors() // _SHARE)

    def protocol(self) -> type[asyncio.Protocol]:
        """uvicorn's HTTP protocol, on these connections."""
        return type("_WatchedProtocol", (_Watched, AutoHTTPProtocol), {"watch": self})

    def bounded(self, app: ASGIApp) -> ASGIApp:
        """The app, which answers 503 to all but probes while it has too many requests in hand."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"] in PROBES:
                await app(scope, receive, send)
            elif self._answered >= self._most * _ANSWERED:
                await _refuse(send)
            else:
                self._answered += 1
                try:
                    await app(scope, receive, send)
                finally:
                    self._answered -= 1

        return answer

    async def end_silent(self) -> None:
        """Ends the connections that take too long for a request, until it is cancelled.

        Looks are counted and not seconds: before each look, the loop has read what had come. While it stands still, no
        sender is to blame.
        """
        while True:
            await asyncio.sleep(self._look_s)
            self._look()

    def _look(self) -> None:
        for protocol, looks in list(self._incoming.items()):
            # What is paused here waits for the app and not for its sender.
            if not protocol.flow.read_paused:
                self._incoming[protocol] = looks + 1
                if looks + 1 >= self._looks:
                    protocol.transport.abort()

    def opened(self, protocol: _Protocol) -> None:
        """Takes a connection, in place of the one that has waited longest for a request if there are too many."""
        if len(self._open) >= self._most:
            idle = next(iter(self._incoming), None) or next(filter(_is_idle, self._open), protocol)
            idle.transport.abort()
            self.closed(idle)
        if not protocol.transport.is_closing():
            self._open[protocol], self._incoming[protocol] = None, 0

    def heard(self, protocol: _Protocol) -> None:
        """Notes that data came: of a head, which has to be complete in time, or of a body, which may not pause."""
        if protocol not in self._open:
            return
        in_hand = not _is_idle(protocol)
        if in_hand and not protocol.cycle.more_body:
            self._incoming.pop(protocol, None)
            return
        if in_hand or protocol not in self._incoming:
            self._incoming[protocol] = 0

    def closed(self, protocol: _Protocol) -> None:
        """Forgets a connection that closed, or that is a WebSocket now."""
        self._open.pop(protocol, None)
        self._incoming.pop(protocol, None)


class _Watched(asyncio.Protocol):
    """The part of a protocol that tells `watch` of its connection."""

    watch: Connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.watch.opened(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.watch.heard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.watch.closed(self)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, *event: object) -> None:
        self.watch.closed(self)
        cast(Callable[..., None], super().handle_websocket_upgrade)(*event)  # type: ignore[misc]


def _is_idle(protocol: _Protocol) -> bool:
    """Whether no request of a connection is in hand."""
    return protocol.cycle is None or bool(protocol.cycle.response_complete)


async def _refuse(send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"1"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSAL})
