"""What may leave a seat in a container: requests to the gateway's proxy, for peers and with reports, and connections to
model endpoints."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from concord.trust.proxy_urls import PROXY_PATH
from concord_cli.adapt.connection import HttpConnection, HttpRequest
from concord_cli.isolation.model_endpoints import ModelEndpoint, NoServerNameError, server_name
from concord_cli.isolation.relay import joined
from concord_gateway.proxy.upstream import Upstream

_OF_COLLECTOR: Final = frozenset({("GET", "/peers"), ("POST", "/traces"), ("POST", "/v1/traces")})
"""Registration is missing: the gateway registers the seats, and what a seat registers could tell others more."""

_MAX_HELLO: Final = 16 * 1024
_PIECE: Final = 4096
_HELLO_S: Final = 10.0
_MAX_NOTICES: Final = 3
"""Of one endpoint: a seat chooses what it names, and could fill the screen."""


@dataclass(frozen=True, slots=True)
class ServiceExit:
    """The way to the paths of a service of Concord that are for participants."""

    url: str
    upstream: Upstream

    async def answer(self, connection: HttpConnection, request: HttpRequest) -> None:
        """Answers one request."""
        if is_for_seats(request.method, request.target):
            await connection.relay(self.upstream, self.url.rstrip("/") + request.target, request)
        else:
            await connection.reply(403, "a seat in a container can reach the gateway's proxy, /peers and /traces alone")


def is_for_seats(method: str, target: str) -> bool:
    """Whether a request with this target, a path with or without a query, may leave a seat."""
    path = target.partition("?")[0]
    return path.startswith(f"{PROXY_PATH}/") or (method, path) in _OF_COLLECTOR


@dataclass(slots=True)
class EndpointExit:
    """The way to a model endpoint. The bytes are carried unread, but a TLS connection must begin with the server's
    name."""

    endpoint: ModelEndpoint
    notice: Callable[[str], None]
    _noticed: set[str] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carries a connection to its end."""
        first = b""
        if self.endpoint.tls and not self.endpoint.on_this_machine:
            try:
                named, first = await _hello(reader)
            except (NoServerNameError, OSError, TimeoutError):
                named = "no server"
            if named != self.endpoint.host:
                self._tell(f"a seat's connection to {self.endpoint.url} named {named}, and was refused")
                writer.close()
                return
        await joined((reader, writer), self._opened(first))

    async def _opened(self, first: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            reader, writer = await asyncio.open_connection(self.endpoint.host, self.endpoint.port)
        except OSError as error:
            self._tell(f"the model endpoint {self.endpoint.url} cannot be reached: {error.strerror or error}")
            raise
        writer.write(first)
        return reader, writer

    def _tell(self, text: str) -> None:
        if text not in self._noticed and len(self._noticed) < _MAX_NOTICES:
            self._noticed.add(text)
            self.notice(text)


async def _hello(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The server that a TLS connection names, and the bytes read. Raises NoServerNameError, OSError, TimeoutError."""
    received = b""
    async with asyncio.timeout(_HELLO_S):
        while (name := server_name(received)) is None:
            piece = await reader.read(_PIECE)
            received += piece
            if not piece or len(received) > _MAX_HELLO:
                raise NoServerNameError
    return name, received
