"""Connections without a request end, and cannot use up a server's descriptors; requests in hand are not affected."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import H11Protocol

from concord.service import connections
from concord.service.connections import Connections
from concord.service.serve import listen, serve_until

MOST = 4
LIMIT_S = 0.2


@dataclass
class _Server:
    """An app that reads each request, and answers those for `/slow` once it is `released`."""

    host: str = ""
    port: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)
    in_hand: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        self.in_hand += 1
        if scope["path"] == "/slow":
            await self.released.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    @asynccontextmanager
    async def sending(self, text: str, then: str = "") -> AsyncIterator[asyncio.StreamReader]:
        """A connection over which this text is sent, and the other after its answer; yields a reader of what comes."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(text.encode())
        if then:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(then.encode())
        try:
            await writer.drain()
            yield reader
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def get(self, path: str) -> int:
        """The status of the answer to a request."""
        async with httpx.AsyncClient(timeout=30) as http:
            return (await http.get(f"http://{self.host}:{self.port}{path}")).status_code

    async def has_in_hand(self, count: int) -> None:
        """Waits until so many requests have arrived."""
        async with asyncio.timeout(30):
            while self.in_hand < count:
                await asyncio.sleep(0.01)


@pytest.fixture(params=[AutoHTTPProtocol, H11Protocol], ids=["httptools", "h11"])
async def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[_Server]:
    monkeypatch.setattr(connections, "AutoHTTPProtocol", request.param)
    app, stop = _Server(), asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        app.host, app.port = listener.getsockname()
        watched = Connections(MOST, request_s=LIMIT_S)
        serving = asyncio.create_task(serve_until(app, listener, stop, grace_s=1, connections=watched))
        try:
            yield app
        finally:
            app.released.set()
            stop.set()
            await serving


async def _end(reader: asyncio.StreamReader) -> bytes:
    """What came until the server ended the connection."""
    async with asyncio.timeout(30):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


BODY = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf"
SILENT = {
    "nothing": "",
    "half a head": "GET / HTTP/1.1\r\nho",
    "half a body": BODY,
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
async def test_a_connection_that_sends_no_whole_request_ends(server: _Server, text: str) -> None:
    async with server.sending(text) as reader:
        await _end(reader)


async def test_a_connection_whose_second_request_does_not_come_whole_ends(server: _Server) -> None:
    async with server.sending("GET / HTTP/1.1\r\nhost: x\r\n\r\n", then="GET /sec") as reader:
        await _end(reader)


async def test_a_server_that_stood_still_ends_no_connection_for_it(server: _Server) -> None:
    async with AsyncExitStack() as open_connections:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        open_connections.callback(writer.close)
        writer.write(BODY.encode())
        await asyncio.sleep(LIMIT_S / 4)  # the server reads it
        time.sleep(3 * LIMIT_S)  # noqa: ASYNC251 - the server stands still
        await asyncio.sleep(0.01)  # it looks at its connections before their senders go on
        writer.write(b" done")
        async with asyncio.timeout(30):
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"


async def test_a_request_in_hand_outlives_the_limit_of_its_arrival(server: _Server) -> None:
    async with server.sending("GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n") as answer:
        async with server.sending("") as silent:
            await _end(silent)
        server.released.set()
        assert (await _end(answer)).startswith(b"HTTP/1.1 200")


async def test_silent_connections_make_room_for_requests(server: _Server) -> None:
    async with AsyncExitStack() as exits:
        for number in range(3 * MOST):
            await exits.enter_async_context(server.sending("GET / HT" if number % 2 else ""))
        assert await server.get("/") == 200


async def test_requests_in_hand_leave_room_for_probes(server: _Server) -> None:
    async with AsyncExitStack() as exits:
        for _ in range(MOST - 1):
            await exits.enter_async_context(server.sending("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n"))
        await server.has_in_hand(MOST - 1)
        assert await server.get("/slow") == 503
        assert await server.get("/healthz") == 200
