"""The relay beside a seat's container: carries bytes between the seat's loopback interface and Concord's Unix sockets.

`relay.py SEAT_PORT ADDRESS:PORT=NAME...` runs in a container without a network, whose loopback interface is the only
one that the seat's container has. It alone sees the folder of the sockets. It forwards what connects to each address to
`NAME.sock` there, and what connects to `in.sock` to the seat. It runs by its text in a plain Python image, and must
import nothing beyond the standard library.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

FOLDER: Final = "/run/concord"
ENTRANCE: Final = "in.sock"

_PIECE: Final = 64 * 1024
_VSOCK_LOCAL: Final = 1
_VSOCK_S: Final = 1.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


class Connections:
    """The connections of servers, each served in a task of its own, which all end together."""

    def __init__(self) -> None:
        self._tasks = set[asyncio.Task[None]]()

    def serving(self, serve: Serve) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        """What a server does with a connection."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(serve(reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return accept

    async def aclose(self) -> None:
        """Ends all connections."""
        ending = list(self._tasks)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)


async def joined(here: Streams, there: Awaitable[Streams]) -> None:
    """Carries bytes both ways between two connections until both ends have closed or one is broken off."""
    writers = [here[1]]
    try:
        reader, writer = await there
        writers.append(writer)
        await asyncio.gather(_carried(here[0], writer), _carried(reader, here[1]))
    except OSError:
        for each in writers:
            each.transport.abort()
    finally:
        for each in writers:
            each.close()
        for each in writers:
            with suppress(OSError):
                await each.wait_closed()


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def reaches_others_by_vsock() -> bool:
    """Whether sockets between virtual machines, which belong to no network, lead back to this machine."""
    try:
        with (
            socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as server,
            socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as client,
        ):
            server.bind((socket.VMADDR_CID_ANY, socket.VMADDR_PORT_ANY))
            server.listen()
            client.settimeout(_VSOCK_S)
            client.connect((_VSOCK_LOCAL, server.getsockname()[1]))
    except OSError:
        return False
    return True


async def relay(folder: Path, seat_port: int, exits: list[str]) -> None:
    """Carries connections until it is ended. `exits`: `ADDRESS:PORT=NAME` each."""

    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await joined((reader, writer), asyncio.open_connection("127.0.0.1", seat_port))

    async def leave(path: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await joined((reader, writer), asyncio.open_unix_connection(path))

    connections, servers = Connections(), list[asyncio.Server]()
    try:
        for each in exits:
            place, _, name = each.partition("=")
            address, _, port = place.rpartition(":")
            serve = connections.serving(partial(leave, folder / f"{name}.sock"))
            servers.append(await asyncio.start_server(serve, address, int(port)))
        # Last, because a connection to this port shows that all others are open.
        entrance = folder / ENTRANCE
        entrance.unlink(missing_ok=True)
        servers.append(await asyncio.start_unix_server(connections.serving(enter), entrance))
        entrance.chmod(0o777)
        await asyncio.Event().wait()
    finally:
        for server in servers:
            server.close()
        await connections.aclose()


if __name__ == "__main__":
    if reaches_others_by_vsock():
        sys.exit("containers of this engine reach each other by vsock: Docker Engine 23 or newer prevents that")
    asyncio.run(relay(Path(FOLDER), int(sys.argv[1]), sys.argv[2:]))
