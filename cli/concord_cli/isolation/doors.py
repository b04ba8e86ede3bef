"""The doors of seats in containers: Concord's ends of the Unix sockets that lead into a seat's network and out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from concord.loopback import LOOPBACK
from concord_cli.adapt.connection import answering
from concord_cli.isolation.exits import EndpointExit, ServiceExit
from concord_cli.isolation.relay import ENTRANCE, Connections, Serve, joined
from concord_cli.isolation.seats import Exit, IsolatedSeat, IsolatedSeats
from concord_gateway.proxy.upstream import Upstream

MAX_OPEN: Final = 64
"""Connections out of one seat at the same time: each takes file descriptors of Concord's."""

MAX_BODY: Final = 4 * 1024 * 1024
"""Bytes of one request: as many as the services take by default."""


@asynccontextmanager
async def open_doors(isolated: IsolatedSeats, notice: Callable[[str], None]) -> AsyncIterator[None]:
    """Listens for each seat at its address on this machine, and behind its exits, until the context ends.

    `notice` gets a line for an endpoint that cannot be reached, and for a connection that was refused.
    """
    connections, servers = Connections(), list[asyncio.Server]()
    async with Upstream() as upstream:
        serve = {each.name: _behind(each, upstream, notice) for each in isolated.exits}
        try:
            for seat in isolated.seats:
                servers.append(await _entrance(seat, connections))
                servers.extend(await _ways_out(seat, serve, connections))
            yield
        finally:
            for server in servers:
                server.close()
            await connections.aclose()


async def _entrance(seat: IsolatedSeat, connections: Connections) -> asyncio.Server:
    # The relay may run as another user. Nobody but its owner reaches this folder on this machine.
    seat.folder.mkdir(parents=True)
    seat.folder.chmod(0o777)
    return await asyncio.start_server(connections.serving(_into(seat.folder / ENTRANCE)), LOOPBACK, seat.port)


async def _ways_out(seat: IsolatedSeat, serve: Mapping[str, Serve], connections: Connections) -> list[asyncio.Server]:
    servers, free = [], asyncio.Semaphore(MAX_OPEN)
    for name, each in serve.items():
        path = seat.folder / f"{name}.sock"
        servers.append(await asyncio.start_unix_server(connections.serving(_bounded(each, free)), path))
        path.chmod(0o777)
    return servers


def _behind(leaving: Exit, upstream: Upstream, notice: Callable[[str], None]) -> Serve:
    if isinstance(leaving.to, str):
        return answering(ServiceExit(leaving.to, upstream).answer, MAX_BODY)
    return EndpointExit(leaving.to, notice).serve


def _into(entrance: Path) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await joined((reader, writer), asyncio.open_unix_connection(entrance))

    return serve


def _bounded(serve: Serve, free: asyncio.Semaphore) -> Serve:
    """`serve`, and an end at once for a connection above the limit."""

    async def bounded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if free.locked():
            writer.close()
            return
        async with free:
            await serve(reader, writer)

    return bounded
