"""Readiness probes of programs, and free ports."""

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx

from concord.loopback import LOOPBACK
from concord.plain_http import NO_CERTIFICATES

_TIMEOUT_S = 2.0


class Probe(Protocol):
    """A readiness probe."""

    async def passes(self) -> bool:
        """Whether the program is ready now. Does not raise if it is not."""


@dataclass(frozen=True, slots=True)
class HttpProbe:
    """Passes if `url` answers 200."""

    url: str

    async def passes(self) -> bool:
        # Ignore the environment's proxy, which would answer in the program's place. Load no CA certificates: there is
        # nothing to verify, and loading them would keep a core busy.
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False, verify=NO_CERTIFICATES) as client:
            try:
                return (await client.get(self.url)).status_code == httpx.codes.OK
            except httpx.TransportError:
                return False


@dataclass(frozen=True, slots=True)
class RedisProbe:
    """Passes if the Redis on this port of the loopback interface has loaded its data and answers PING."""

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


@dataclass(frozen=True, slots=True)
class UnixSocketProbe:
    """Passes if a server accepts connections at this Unix socket."""

    path: Path

    async def passes(self) -> bool:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                _, writer = await asyncio.open_unix_connection(self.path)
                writer.close()
        except (OSError, TimeoutError):
            return False
        return True


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server can listen on this port of an address of this machine."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((host, port))
        except OSError:
            return False
        return True
