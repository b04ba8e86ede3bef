"""The HTTP/1.1 client for calls to callees: h11 over asyncio streams, with persistent connections.

A general client costs a millisecond of CPU per call, more than the rest of the proxy, for features that the proxy must
not use: cookies, redirects, decoding. Its connection pool slows down with each open stream.
"""

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, Self
from urllib.parse import quote, urlencode, urlsplit

import h11
import httpx

from concord.a2a.client import NO_CREDENTIALS
from concord.trust.credentials import Credential, Credentials
from concord.trust.urls import PeerUrls, UrlRefusedError
from concord_gateway.proxy.limits import ANSWER_IS_LATE, ANSWER_PAUSE_S, BODY_PAUSE_S, CONNECT_S, IDLE_CONNECTION_S

Header = tuple[bytes, bytes]

CLOSED: Final = "the agent cannot be reached: the connection was closed"

_KEPT: Final = "!#$%&'()*+,/:;=?@[]~"
"""Characters that a URL may contain unescaped (RFC 3986). All others are percent-encoded as UTF-8."""

_MAX_IDLE: Final = 32
_PIECE: Final = 64 * 1024


class UnreachableError(Exception):
    """The agent cannot be reached or closed the connection; the message names the fault and no address."""


class AnswerTimeoutError(UnreachableError):
    """The agent did not answer in time."""


class _Origin(NamedTuple):
    tls: bool
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The host, with the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


@dataclass(slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    protocol: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))
    idle_since: float = 0.0

    @property
    def usable(self) -> bool:
        """Whether an idle connection can take another request."""
        fresh = time.monotonic() - self.idle_since < IDLE_CONNECTION_S
        return fresh and not self.reader.at_eof() and not self.writer.is_closing()

    async def event(self, pause_s: float | None = None) -> h11.Event:
        """The next event from the callee, within `pause_s` or `ANSWER_PAUSE_S`. Raises UnreachableError."""
        try:
            while (event := self.protocol.next_event()) is h11.NEED_DATA:
                async with asyncio.timeout(ANSWER_PAUSE_S if pause_s is None else pause_s):
                    self.protocol.receive_data(await self.reader.read(_PIECE))
        except TimeoutError as error:
            raise AnswerTimeoutError(ANSWER_IS_LATE) from error
        except (OSError, h11.RemoteProtocolError) as error:
            raise _unreachable(error) from error
        if isinstance(event, h11.ConnectionClosed | type):
            raise UnreachableError(CLOSED)
        return event


class UpstreamAnswer:
    """A callee's response, with its body unread."""

    def __init__(self, connection: _Connection, head: h11.Response) -> None:
        self._connection = connection
        self.status = head.status_code
        self.headers: list[Header] = list(head.headers)

    def header(self, name: str) -> str:
        """The value of a header, "" if it is absent."""
        wanted = name.encode()
        return next((value.decode("latin-1") for each, value in self.headers if each == wanted), "")

    async def pieces(self, idle_s: float | None = None) -> AsyncIterator[bytes]:
        """The body in pieces. Once it has begun, no pause may exceed `idle_s`. Raises UnreachableError."""
        pause_s = None
        while not isinstance(event := await self._connection.event(pause_s), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                pause_s = idle_s
                yield bytes(event.data)


class Upstream:
    """Connections to callees. Close it when the app shuts down."""

    def __init__(
        self,
        peer_urls: PeerUrls | None = None,
        idle_s: float = BODY_PAUSE_S,
        credentials: Credentials = NO_CREDENTIALS,
    ) -> None:
        """`credentials`: what callees are shown, in place of what a caller sends. `peer_urls` restricts the addresses
        of callees; without it, any address is allowed.

        `idle_s` is how long a callee may stop reading a request (seconds).
        """
        self._peer_urls = peer_urls
        self._credentials = credentials
        self._idle_s = idle_s
        self._idle: defaultdict[_Origin, list[_Connection]] = defaultdict(list)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connections in self._idle.values():
            for connection in connections:
                connection.writer.close()
        self._idle.clear()

    @asynccontextmanager
    async def send(
        self, method: str, url: str, headers: Iterable[Header], body: bytes = b""
    ) -> AsyncIterator[UpstreamAnswer]:
        """Sends a request; yields the response when it begins. Raises UnreachableError, AnswerTimeoutError."""
        origin, target = _place(url)
        if (credential := self._credentials.of(url)) is not None:
            headers, target = _showing(credential, headers, target)
        connection = await self._connection(origin)
        reusable = False
        try:
            _write(connection, method, origin, target, headers, body)
            pause_s = None if await self._drained(connection) else self._idle_s
            while isinstance(head := await connection.event(pause_s), h11.InformationalResponse):
                pass
            if not isinstance(head, h11.Response):
                raise UnreachableError("the agent cannot be reached: no answer")
            yield UpstreamAnswer(connection, head)
            reusable = connection.protocol.our_state is connection.protocol.their_state is h11.DONE
        finally:
            self._release(origin, connection, reusable=reusable)

    async def _drained(self, connection: _Connection) -> bool:
        """Whether the callee read the whole request. A callee that did not may still have answered."""
        left = connection.writer.transport.get_write_buffer_size()
        while left:
            try:
                async with asyncio.timeout(self._idle_s):
                    await connection.writer.drain()
                return True
            except TimeoutError:
                before, left = left, connection.writer.transport.get_write_buffer_size()
                if left >= before:
                    return False
            except OSError:
                return False
        return True

    async def _connection(self, origin: _Origin) -> _Connection:
        idle = self._idle[origin]
        while idle:
            if (connection := idle.pop()).usable:
                return connection
            connection.writer.close()
        try:
            async with asyncio.timeout(CONNECT_S):
                return _Connection(
                    *await asyncio.open_connection(
                        await self._address(origin),
                        origin.port,
                        ssl=self._tls if origin.tls else None,
                        server_hostname=origin.host if origin.tls else None,
                        limit=_PIECE,
                    )
                )
        except TimeoutError as error:
            raise AnswerTimeoutError(ANSWER_IS_LATE) from error
        except (OSError, ValueError) as error:
            raise _unreachable(error) from error

    async def _address(self, origin: _Origin) -> str:
        """The address to connect to: a host name may resolve to another address than when it was declared."""
        if self._peer_urls is None:
            return origin.host
        try:
            pinned = await self._peer_urls.pin_declared(f"http{'s' if origin.tls else ''}://{origin.authority}")
        except UrlRefusedError as error:
            raise UnreachableError(f"the agent cannot be reached: {error}") from error
        return origin.host if pinned is None else str(pinned.address)

    def _release(self, origin: _Origin, connection: _Connection, *, reusable: bool) -> None:
        idle = self._idle[origin]
        if reusable and len(idle) < _MAX_IDLE:
            connection.protocol.start_next_cycle()
            connection.idle_since = time.monotonic()
            idle.append(connection)
            asyncio.get_running_loop().call_later(1.1 * IDLE_CONNECTION_S, self._close_stale, origin)
        else:
            connection.writer.close()

    def _close_stale(self, origin: _Origin) -> None:
        """Closes connections that have been idle for too long."""
        idle = self._idle.pop(origin, [])
        for connection in idle:
            if not connection.usable:
                connection.writer.close()
        if still := [connection for connection in idle if connection.usable]:
            self._idle[origin] = still

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()


def _showing(credential: Credential, headers: Iterable[Header], target: str) -> tuple[list[Header], str]:
    """The headers and the target of a request that shows a credential."""
    if credential.in_query:
        mark = "&" if "?" in target else "?"
        return list(headers), f"{target}{mark}{urlencode({credential.name: credential.value})}"
    name = credential.name.lower().encode()
    kept = [header for header in headers if header[0].lower() != name]
    return [*kept, (name, credential.value.encode())], target


def _write(
    connection: _Connection, method: str, origin: _Origin, target: str, headers: Iterable[Header], body: bytes
) -> None:
    length = [(b"content-length", str(len(body)).encode())] if body else []
    head = [(b"host", origin.authority.encode()), *headers, *length]
    protocol = connection.protocol
    try:
        pieces = [
            protocol.send(h11.Request(method=method, target=target, headers=head)),
            protocol.send(h11.Data(body)) if body else b"",
            protocol.send(h11.EndOfMessage()),
        ]
    except (h11.LocalProtocolError, UnicodeError) as error:
        raise _unreachable(error) from error
    connection.writer.write(b"".join(piece for piece in pieces if piece))


def _place(url: str) -> tuple[_Origin, str]:
    try:
        parts = urlsplit(url)
        tls = {"http": False, "https": True}[parts.scheme.lower()]
        host = (parts.hostname or "").encode("idna").decode()
        origin = _Origin(tls, host, parts.port or (443 if tls else 80))
    except (ValueError, KeyError) as error:
        raise UnreachableError("the agent cannot be reached: its address is invalid") from error
    return origin, quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_KEPT)


def _unreachable(error: Exception) -> UnreachableError:
    return UnreachableError(f"the agent cannot be reached: {type(error).__name__}")
