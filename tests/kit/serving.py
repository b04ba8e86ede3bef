"""Apps and servers over real HTTP on the loopback, in the test's own event loop."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from concord.a2a import AgentProfile, Handler, Skill, mount_agent

LOOPBACK = "127.0.0.1"


def reserved(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A socket bound to this or any free port, which no other process can take. It refuses connections until an app is
    served on it.

    asyncio sends without delay only over sockets that name their protocol; others wait 40 ms for an acknowledgement.
    """
    holder = socket.socket(proto=socket.IPPROTO_TCP)
    holder.bind((host, port))
    return holder


def url_of(holder: socket.socket) -> str:
    """The base URL of a reserved port, without a trailing slash."""
    host, port = holder.getsockname()
    return f"http://{host}:{port}"


@asynccontextmanager
async def served(app: ASGIApp, at: socket.socket | None = None) -> AsyncIterator[str]:
    """Serves an app at a reserved or any other port; yields its base URL, without a trailing slash."""
    with at or reserved() as holder:
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        config.load()
        server.lifespan = config.lifespan_class(config)
        try:
            await server.startup([holder])
        except SystemExit as error:  # it would end the event loop, and a test would wait for ever
            raise RuntimeError("the app did not start") from error
        try:
            yield url_of(holder)
        finally:
            await _stop_accepting(holder)
            await _close_idle(server)
            await server.shutdown([holder])
            for connection in list(server.server_state.connections):
                connection.transport.abort()


async def _close_idle(server: uvicorn.Server) -> None:
    """Closes the connections without a request, which the shutdown would look at every tenth of a second."""
    for connection in list(server.server_state.connections):
        connection.shutdown()
    for _ in range(10):
        if server.server_state.connections:
            await asyncio.sleep(0)


@asynccontextmanager
async def served_agent(
    handler: Handler, name: str = "agent", card_url: str | None = None, host: str = LOOPBACK, *, rest: bool = False
) -> AsyncIterator[str]:
    """Serves an A2A agent with this handler; yields its URL, which is also in its card unless `card_url` is given.

    `rest`: also by HTTP+JSON."""
    holder = reserved(host)
    app = FastAPI()
    profile = AgentProfile(
        name=name,
        description="A test's agent.",
        version="1",
        url=card_url or f"{url_of(holder)}/",
        skills=(Skill("researcher", "Research", "Researches.", ("test",)),),
        rest=rest,
    )
    agent = mount_agent(app, profile, handler)
    try:
        async with served(app, holder) as url:
            yield f"{url}/"
    finally:
        await agent.aclose()


async def eventually(holds: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Waits until `holds()` is true. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not holds():
            await asyncio.sleep(0.02)


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(
    serve: Serve, host: str = LOOPBACK, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serves raw TCP connections; yields an HTTP URL. At the end, aborts the connections that are still open."""
    serving: dict[asyncio.Task[None], asyncio.WriteTransport] = {}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving[asyncio.create_task(answer(reader, writer))] = writer.transport

    server = await asyncio.start_server(accept, host, port, ssl=tls)
    try:
        yield f"http://{host}:{server.sockets[0].getsockname()[1]}/"
    finally:
        await _stop_accepting(*server.sockets)
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for transport in serving.values():
            _abort(transport)
        await asyncio.sleep(0)


def _abort(transport: asyncio.WriteTransport) -> None:
    """Aborts an open connection, or one that was closed and waits for a peer that does not read.

    asyncio's `abort` raises AttributeError if the connection was lost after `close` had left data to send
    (https://github.com/agronholm/anyio/issues/1250).
    """
    if not transport.is_closing() or transport.get_write_buffer_size() > 0:
        transport.abort()


async def _stop_accepting(*listeners: socket.socket) -> None:
    """Accepts no more connections, and lets those already accepted become visible, so that a server can close them.

    An accepted connection gets its transport in the next pass of the event loop, and its protocol in the one after.
    asyncio leaks a connection whose server closes before it has its transport
    (https://github.com/python/cpython/issues/109564).
    """
    loop = asyncio.get_running_loop()
    for listener in listeners:
        loop.remove_reader(listener.fileno())
    for _ in range(3):
        await asyncio.sleep(0)


def replying(status: str) -> Serve:
    """Answers every request with this status line and an empty body."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    return serve
