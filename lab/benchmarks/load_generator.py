"""Generates load: prepared requests over persistent connections, with as little work on the client as possible."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


def request(url: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """The bytes of a POST request."""
    parts = urlsplit(url)
    head = {"host": parts.netloc, "content-length": str(len(body))} | dict(headers)
    lines = [f"POST {parts.path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    return "\r\n".join(lines).encode() + body


class Connection:
    """A persistent connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, request: bytes) -> int:
        """Sends a request, reads the whole response, and returns its status."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        await self._reader.readexactly(int(length or b"0"))
        return int(head[9:12])

    def close(self) -> None:
        """Closes the connection."""
        self._writer.close()


@asynccontextmanager
async def connections(url: str, number: int) -> AsyncIterator[list[Connection]]:
    """Connections to the server at a URL."""
    parts = urlsplit(url)
    opened = [Connection(*await asyncio.open_connection(parts.hostname, parts.port)) for _ in range(number)]
    try:
        yield opened
    finally:
        for each in opened:
            each.close()


async def send_all(url: str, requests: Iterable[bytes], parallel: int = 8) -> None:
    """Sends all requests as fast as the server answers. Raises AssertionError for an unsuccessful response."""
    pending = iter(requests)

    async def work(connection: Connection) -> None:
        for each in pending:
            status = await connection.send(each)
            assert 200 <= status < 300, status

    async with connections(url, parallel) as opened:
        await asyncio.gather(*map(work, opened))


async def send_paced(url: str, requests: Sequence[bytes], per_s: float, parallel: int = 64) -> list[float]:
    """Sends requests at a rate, and returns the latency of each response from when its request was due (seconds)."""
    latencies: list[float] = []
    async with connections(url, parallel) as opened:
        free: asyncio.Queue[Connection] = asyncio.Queue()
        for connection in opened:
            free.put_nowait(connection)
        started = time.perf_counter()

        async def one(due: float, request: bytes) -> None:
            connection = await free.get()
            await connection.send(request)
            latencies.append(time.perf_counter() - due)
            free.put_nowait(connection)

        async with asyncio.TaskGroup() as tasks:
            for number, each in enumerate(requests):
                due = started + number / per_s
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                tasks.create_task(one(due, each))
    return latencies
