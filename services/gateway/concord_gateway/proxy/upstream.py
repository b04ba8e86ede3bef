"""The HTTP/1.1 client for calls to callees: httpx's own connections, httpcore, to the addresses that were checked.

httpcore leaves out what the proxy must not do: redirects, cookies, proxies of the environment, and decoding of bodies.
Its network backend connects to a name's checked address, and receives an answer that a callee sends before it has read
the request.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from typing import Any, Final, NamedTuple, Self
from urllib.parse import quote, urlencode, urlsplit

import httpcore
import httpx

from concord.a2a.client import NO_CREDENTIALS
from concord.trust.credentials import Credential, Credentials
from concord.trust.urls import PeerUrls, UrlRefusedError
from concord_gateway.proxy.limits import ANSWER_IS_LATE, ANSWER_PAUSE_S, BODY_PAUSE_S, CONNECT_S, IDLE_CONNECTION_S

Header = tuple[bytes, bytes]

CLOSED: Final = "the agent cannot be reached: the connection was closed"

_KEPT: Final = "!#$%&'()*+,/:;=?@[]~"
"""Characters that a URL may contain unescaped (RFC 3986). All others are percent-encoded as UTF-8."""

_PORTS: Final = {"http": 80, "https": 443}
_PIECE: Final = 64 * 1024


class UnreachableError(Exception):
    """The agent cannot be reached or closed the connection; the message names the fault and no address."""


class AnswerTimeoutError(UnreachableError):
    """The agent did not answer in time."""


class _Origin(NamedTuple):
    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The host, with the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


class UpstreamAnswer:
    """A callee's response, with its body unread."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response
        self.status = response.status
        self.headers: list[Header] = [(name.lower(), value) for name, value in response.headers]

    def header(self, name: str) -> str:
        """The value of a header, "" if it is absent."""
        wanted = name.encode()
        return next((value.decode("latin-1") for each, value in self.headers if each == wanted), "")

    async def pieces(self, idle_s: float | None = None) -> AsyncIterator[bytes]:
        """The body in pieces. Once it has begun, no pause may exceed `idle_s`. Raises UnreachableError."""
        pause_s, body = ANSWER_PAUSE_S, aiter(self._response.aiter_stream())
        while True:
            with _faults():
                async with asyncio.timeout(pause_s):
                    piece = await anext(body, None)
            if piece is None:
                return
            pause_s = ANSWER_PAUSE_S if idle_s is None else idle_s
            yield piece


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
        self._network = _Network(peer_urls)
        self._credentials = credentials
        self._idle_s = idle_s
        self._pools: dict[_Origin, httpcore.AsyncConnectionPool] = {}
        """One for each origin: whenever a request begins or ends, a pool looks at all its connections."""
        self._under_way: Counter[_Origin] = Counter()
        self._used: set[_Origin] = set()
        """Where requests ended of late."""
        self._closing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._closing = asyncio.create_task(self._close_unused())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._closing is not None:
            self._closing.cancel()
        for pool in list(self._pools.values()):
            await pool.aclose()

    @asynccontextmanager
    async def send(
        self, method: str, url: str, headers: Iterable[Header], body: bytes = b""
    ) -> AsyncIterator[UpstreamAnswer]:
        """Sends a request; yields the response when it begins. Raises UnreachableError, AnswerTimeoutError."""
        origin, target = _place(url)
        if (credential := self._credentials.of(url)) is not None:
            headers, target = _showing(credential, headers, target)
        length = [(b"content-length", str(len(body)).encode())] if body else []
        request = httpcore.Request(
            method,
            httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target),
            headers=[(b"host", origin.authority.encode()), *headers, *length],
            content=body,
            extensions={"timeout": {"connect": CONNECT_S, "write": self._idle_s, "read": ANSWER_PAUSE_S}},
        )
        self._under_way[origin] += 1
        try:
            with _faults():
                response = await self._pool(origin).handle_async_request(request)
            try:
                yield UpstreamAnswer(response)
            finally:
                await response.aclose()
        finally:
            self._under_way -= Counter([origin])
            self._used.add(origin)

    def _pool(self, origin: _Origin) -> httpcore.AsyncConnectionPool:
        if (pool := self._pools.get(origin)) is None:
            pool = self._pools[origin] = httpcore.AsyncConnectionPool(
                ssl_context=self._tls if origin.scheme == "https" else None,
                max_connections=None,  # a call may wait for another one
                keepalive_expiry=IDLE_CONNECTION_S,
                network_backend=self._network,
            )
        return pool

    async def _close_unused(self) -> None:
        """Closes the connections to where no request was under way for a while, also those that cancellations left."""
        while True:
            await asyncio.sleep(IDLE_CONNECTION_S)
            unused = self._pools.keys() - self._used - self._under_way.keys()
            self._used.clear()
            for pool in [self._pools.pop(origin) for origin in unused]:  # before a request can begin in one
                await pool.aclose()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()


class _Network(httpcore.AsyncNetworkBackend):
    """Connects to callees at their checked addresses. Its signatures, and its connections', are httpcore's."""

    def __init__(self, peer_urls: PeerUrls | None) -> None:
        self._peer_urls = peer_urls

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        *_: object,
        **__: object,
    ) -> httpcore.AsyncNetworkStream:
        """Raises UnreachableError."""
        with _faults():
            async with asyncio.timeout(timeout):
                return _Stream(*await asyncio.open_connection(await self._address(host, port), port, limit=_PIECE))

    async def _address(self, host: str, port: int) -> str:
        """The address to connect to: a host name may resolve to another address than when it was declared."""
        if self._peer_urls is None:
            return host
        try:
            pinned = await self._peer_urls.pin_declared(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        except UrlRefusedError as error:
            raise UnreachableError(f"the agent cannot be reached: {error}") from error
        return host if pinned is None else str(pinned.address)


class _Stream(httpcore.AsyncNetworkStream):
    """A connection that receives while it sends: a callee may answer before it has read the request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._unread_s: float | None = None
        """How long to wait for the answer of a callee that did not read the request (seconds)."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Raises UnreachableError."""
        with _faults():
            async with asyncio.timeout(timeout if self._unread_s is None else self._unread_s):
                return await self._reader.read(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Sends until the callee reads nothing for `timeout`. Raises WriteError, after which its answer is read."""
        self._writer.write(buffer)
        left = self._writer.transport.get_write_buffer_size()
        while left:
            try:
                async with asyncio.timeout(timeout):
                    await self._writer.drain()
                return
            except TimeoutError as error:
                before, left = left, self._writer.transport.get_write_buffer_size()
                if left >= before:
                    self._unread_s = timeout
                    raise httpcore.WriteError from error
            except OSError as error:
                self._unread_s = timeout
                raise httpcore.WriteError from error

    async def aclose(self) -> None:
        """Closes the connection, without waiting for the callee."""
        self._writer.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Raises UnreachableError."""
        with _faults():
            async with asyncio.timeout(timeout):
                await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - httpcore's signature
        """httpcore asks whether an idle connection is readable, which is one that its callee closed."""
        return self._reader.at_eof() or self._writer.is_closing() if info == "is_readable" else None


def _showing(credential: Credential, headers: Iterable[Header], target: str) -> tuple[list[Header], str]:
    """The headers and the target of a request that shows a credential."""
    if credential.in_query:
        mark = "&" if "?" in target else "?"
        return list(headers), f"{target}{mark}{urlencode({credential.name: credential.value})}"
    name = credential.name.lower().encode()
    kept = [header for header in headers if header[0].lower() != name]
    return [*kept, (name, credential.value.encode())], target


def _place(url: str) -> tuple[_Origin, str]:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()
        origin = _Origin(parts.scheme.lower(), host, parts.port or _PORTS[parts.scheme.lower()])
    except (ValueError, KeyError) as error:
        raise UnreachableError("the agent cannot be reached: its address is invalid") from error
    return origin, quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_KEPT)


@contextmanager
def _faults() -> Iterator[None]:
    """Raises AnswerTimeoutError or UnreachableError for what a network does."""
    try:
        yield
    except TimeoutError as error:
        raise AnswerTimeoutError(ANSWER_IS_LATE) from error
    except (OSError, ValueError, httpcore.ProtocolError) as error:
        raise UnreachableError(f"the agent cannot be reached: {type(error).__name__}") from error
