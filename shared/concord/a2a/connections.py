"""Connections to an agent, for many calls at once.

Whenever a request begins or ends, httpcore looks at every connection of its pool, and asks the kernel about the idle
ones: of a hundred calls at once, that takes a third of the CPU. Here each connection is a pool of its own.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

import httpx

MAX_CONNECTIONS: Final = 100
MAX_IDLE: Final = 20

IDLE_S: Final = 4.0
"""How long an idle connection is kept. Uvicorn closes one after 5 s, and a request sent at that moment would fail."""


class Connections(httpx.AsyncBaseTransport):
    """Sends each request over the connection that was used last, or a new one. Further requests wait for their turn."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._idle: list[httpx.AsyncHTTPTransport] = []
        self._turns = asyncio.Semaphore(MAX_CONNECTIONS)
        self._max_idle = MAX_IDLE

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises as httpx's transports do, also PoolTimeout."""
        await self._turn(request)
        async with AsyncExitStack() as unless_answered:
            unless_answered.callback(self._turns.release)
            connection = self._idle.pop() if self._idle else self._new()
            unless_answered.push_async_callback(self._put_back, connection)
            response = await connection.handle_async_request(request)
            assert isinstance(response.stream, httpx.AsyncByteStream)  # nosec B101  # noqa: S101 - of an async transport
            response.stream = _Stream(response.stream, unless_answered.pop_all())
            return response

    async def aclose(self) -> None:
        """Closes the idle connections, and the others when their answers end."""
        self._max_idle = 0
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.aclose()

    async def _turn(self, request: httpx.Request) -> None:
        try:
            async with asyncio.timeout(request.extensions.get("timeout", {}).get("pool")):
                await self._turns.acquire()
        except TimeoutError as error:
            raise httpx.PoolTimeout("no connection was free in time", request=request) from error

    def _new(self) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_S)
        return httpx.AsyncHTTPTransport(verify=self._tls, limits=limits)

    async def _put_back(self, connection: httpx.AsyncHTTPTransport) -> None:
        if len(self._idle) < self._max_idle:
            self._idle.append(connection)
        else:
            await connection.aclose()


class _Stream(httpx.AsyncByteStream):
    """An answer that gives its connection back when it is closed."""

    def __init__(self, stream: httpx.AsyncByteStream, after: AsyncExitStack) -> None:
        self._stream = stream
        self._after = after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        async with self._after:
            await self._stream.aclose()
