"""A connection with one HTTP/1.1 request, read whole, and its answer, relayed in pieces. h11 over asyncio streams."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import h11

from concord_gateway.proxy.upstream import Header, UnreachableError, Upstream

logger = logging.getLogger(__name__)

MAX_BODY: Final = 64 * 1024 * 1024
_PIECE: Final = 64 * 1024
_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade"}
)
"""RFC 9110, section 7.6.1, and the obsolete ones."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request with its whole body. `target`: a path, a proxy's URL, or host and port of a tunnel, as sent."""

    method: str
    target: str
    headers: tuple[Header, ...]
    body: bytes

    def header(self, name: bytes) -> str:
        """The value of a header, "" if it is absent."""
        return next((value.decode("latin-1") for each, value in self.headers if each == name), "")


class HttpConnection:
    """A connection with one request, to be answered once."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self.reader = reader
        self.writer = writer
        self._protocol = h11.Connection(h11.SERVER)

    async def request(self) -> HttpRequest | None:
        """The request; None if the client sends none. Raises ValueError for an invalid or too large request."""
        head: h11.Request | None = None
        body = bytearray()
        while True:
            try:
                event = self._protocol.next_event()
            except h11.RemoteProtocolError as error:
                raise ValueError("not an HTTP request") from error
            if event is h11.NEED_DATA:
                if self._protocol.they_are_waiting_for_100_continue:
                    await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                self._protocol.receive_data(await self.reader.read(_PIECE))
            elif isinstance(event, h11.Request):
                head = event
                if head.method == b"CONNECT":
                    return HttpRequest("CONNECT", head.target.decode("latin-1"), tuple(head.headers), b"")
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > self._max_body:
                    raise ValueError("the request is too large")
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                target = head.target.decode("latin-1")
                return HttpRequest(head.method.decode(), target, tuple(head.headers), bytes(body))
            else:
                return None

    async def reply(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        """Answers with a text."""
        body = f"concord: {text}\n".encode()
        fields = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))} | dict(headers or {})
        await self._head(status, [(name.encode(), value.encode()) for name, value in fields.items()])
        await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())

    async def relay(
        self, upstream: Upstream, url: str, request: HttpRequest, change: Callable[[bytes], bytes] | None = None
    ) -> None:
        """Sends the request to `url`, and its answer to the client; `change` changes a body that is not streamed."""
        headers = [(name, value) for name, value in request.headers if name not in _HOP_BY_HOP | _OURS]
        if change is not None:
            headers.append((b"accept-encoding", b"identity"))
        try:
            async with upstream.send(request.method, url, headers, request.body) as answer:
                kept = [(name, value) for name, value in answer.headers if name not in _HOP_BY_HOP]
                if change is None:
                    await self._head(answer.status, kept)
                    async for piece in answer.pieces():
                        await self._send(h11.Data(data=piece))
                else:
                    body = change(b"".join([piece async for piece in answer.pieces()]))
                    kept = [each for each in kept if each[0] != b"content-length"]
                    await self._head(answer.status, [*kept, (b"content-length", str(len(body)).encode())])
                    await self._send(h11.Data(data=body))
                await self._send(h11.EndOfMessage())
        except UnreachableError as error:
            if self._protocol.our_state is h11.SEND_RESPONSE:
                await self.reply(502, str(error))

    async def _head(self, status: int, headers: Iterable[Header]) -> None:
        await self._send(h11.Response(status_code=status, headers=[*headers, (b"connection", b"close")]))

    async def _send(self, event: h11.Event) -> None:
        if data := self._protocol.send(event):
            self.writer.write(data)
            await self.writer.drain()


_OURS: Final = frozenset({b"host", b"content-length", b"expect"})

Answer = Callable[[HttpConnection, HttpRequest], Awaitable[None]]


def answering(
    answer: Answer, max_body: int = MAX_BODY
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]:
    """What a server does with a connection: `answer` its request, which may have a body of `max_body` bytes.

    If the client disconnects, the work on its request ends.
    """

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = HttpConnection(reader, writer, max_body)
        try:
            request = await connection.request()
            if request is not None:
                await _until_gone(answer(connection, request), reader, tunnel=request.method == "CONNECT")
        except ValueError as error:
            await connection.reply(400, str(error))
        except (OSError, h11.LocalProtocolError) as error:
            logger.debug("a connection ended: %s", error)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    return connected


async def _until_gone(work: Awaitable[None], reader: asyncio.StreamReader, *, tunnel: bool) -> None:
    answering = asyncio.ensure_future(work)
    if tunnel:
        await answering
        return
    gone = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
    finally:
        for each in (answering, gone):
            each.cancel()
        await asyncio.gather(answering, gone, return_exceptions=True)
