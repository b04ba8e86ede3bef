"""How to tell that a program is ready to be used, and which ports are free for it."""

import asyncio
import socket
import ssl
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import httpx

LOOPBACK = "127.0.0.1"
_TIMEOUT_S = 2.0
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Probe(Protocol):
    """One look at a program."""

    async def passes(self) -> bool:
        """Whether it is ready now; never raises for a program that is not."""


@dataclass(frozen=True, slots=True)
class HttpProbe:
    """Ready when `url` answers 200."""

    url: str

    async def passes(self) -> bool:
        # Straight to this machine: a proxy from the environment would answer in its place. Without certificates:
        # there is nothing to verify, and to load them would keep a core busy.
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False, verify=_NO_CERTIFICATES) as client:
            try:
                return (await client.get(self.url)).status_code == httpx.codes.OK
            except httpx.TransportError:
                return False


@dataclass(frozen=True, slots=True)
class RedisProbe:
    """Ready when the Redis on this port of the loopback has loaded its data and answers PING."""

    port: int
    password: str

    async def passes(self) -> bool:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
                writer.write(f"AUTH {self.password}\r\nPING\r\n".encode())
                answers = [await reader.readline(), await reader.readline()]
                writer.close()
        except (OSError, TimeoutError):
            return False
        return answers == [b"+OK\r\n", b"+PONG\r\n"]


async def can_connect(url: str, default_port: int) -> bool:
    """Whether something listens where a URL points to."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, writer = await asyncio.open_connection(parts.hostname or LOOPBACK, parts.port or default_port)
            writer.close()
    except (OSError, TimeoutError):
        return False
    return True


def free_ports(count: int) -> list[int]:
    """Distinct ports of the loopback that nobody listens on."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [int(each.getsockname()[1]) for each in sockets]


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback."""
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
