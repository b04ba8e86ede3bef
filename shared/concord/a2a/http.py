"""HTTP under A2A: connections, size limits of answers, and server-sent events."""

import json
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from functools import cache, partial
from typing import Final

import httpx

# How many values the JSON of an A2A body holds: the SDK takes four microseconds for each, on the event loop.

MAX_VALUES: Final = 100_000
"""Values in a body that is read: those take half a second."""

_BEGINS: Final = (b",", b"[", b"{")
"""A value stands behind each of these marks outside strings, but for empty objects and arrays."""

_BLOCK: Final = 1 << 20
"""Bytes that are split at their quotes together, which takes up to forty times their memory."""


def values_in(body: bytes | bytearray) -> int:
    """The number of values in a JSON text, at most; of a text that is no JSON, up to its fault.

    The text is not parsed. Whatever it is, a megabyte takes a few hundredths of a second at most.
    """
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"").replace(b'""', b"")
    found = within = 0
    for start in range(0, len(unescaped), _BLOCK):
        pieces = unescaped[start : start + _BLOCK].split(b'"')
        outside = b"".join(pieces[within::2])
        found += sum(map(outside.count, _BEGINS))
        within ^= (len(pieces) - 1) % 2
    return found


# Server-sent events in bytes, up to a size.
#
# httpx-sse's decoder takes text and holds any amount of it; the proxy has to count the bytes that an event takes.

MAX_EVENT_BYTES: Final = 16 * 1024 * 1024
"""The largest answer, or event of a stream, that is relayed. Streams are unlimited in total."""

_LINE: Final = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")


class EventReader:
    """Collects the data of server-sent events, line by line (HTML standard, section 9.2.6)."""

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._data = bytearray()
        self._limit = limit

    @property
    def size(self) -> int:
        """The bytes of the unfinished event."""
        return len(self._data)

    @property
    def unfinished(self) -> bool:
        """Whether an event has begun and not ended."""
        return bool(self._data)

    def read(self, lines: bytes) -> Iterator[bytes]:
        """The data of the events that end in these lines."""
        for line in _lines_of(lines):
            if line.startswith(b"data:") and len(self._data) + len(line) <= self._limit:
                self._data += line.removeprefix(b"data:") + b"\n"
            elif not line and self._data:
                yield self.rest()

    def rest(self) -> bytes:
        """The data of the unfinished event, which is dropped."""
        data = bytes(self._data)
        self._data.clear()
        return data


class LineSplitter:
    """Splits a stream at line ends, so that redaction sees each secret whole."""

    def __init__(self) -> None:
        self._rest = bytearray()

    @property
    def size(self) -> int:
        """The bytes of the unfinished line."""
        return len(self._rest)

    def take(self, chunk: bytes) -> bytes:
        """The complete lines up to this chunk."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._rest += chunk
            return b""
        whole = bytes(self._rest) + chunk[:end]
        self._rest = bytearray(chunk[end:])
        return whole

    def rest(self) -> bytes:
        """The unfinished line at the end of the stream."""
        return bytes(self._rest)

    def clear(self) -> None:
        """Drops the unfinished line."""
        self._rest.clear()


def _lines_of(text: bytes) -> Iterator[bytes]:
    """The lines without their ends, lazily: there may be as many as bytes."""
    for match in _LINE.finditer(text):
        if match[2] or match[1]:
            yield match[1]


def parse_json(body: bytes | bytearray) -> object:
    """The JSON value of a text, or None if it has none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


# The HTTP client under A2A: follows no redirects, and limits the size of answers.

MAX_CONNECTIONS: Final = 100
MAX_IDLE: Final = 20

IDLE_S: Final = 4.0
"""How long an idle connection is kept. Uvicorn closes one after 5 s, and a request sent at that moment would fail."""

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""Limit on one answer, or a whole stream of events."""


class AnswerTooLargeError(ValueError):
    """The response exceeds the limit."""


def http_client(timeout: httpx.Timeout, max_values: int | None = None) -> httpx.AsyncClient:
    """Creates a client for one agent. `max_values`: limit on the JSON values of an answer, or of a stream of events."""
    return httpx.AsyncClient(
        timeout=timeout,
        follow_redirects=False,
        verify=_tls(),
        limits=httpx.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_IDLE, keepalive_expiry=IDLE_S
        ),
        # The size of a compressed response is not known in advance.
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [partial(_bound, max_values)]},
    )


async def _bound(max_values: int | None, response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise AnswerTooLargeError("the answer is compressed, but no compression was requested")
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MAX_ANSWER_BYTES:
        raise AnswerTooLargeError(f"the answer has {declared} bytes, and the limit is {MAX_ANSWER_BYTES}")
    if isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _Bounded(response.stream, max_values)


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, max_values: int | None) -> None:
        self._stream = stream
        self._max_values = max_values
        self._values = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ANSWER_BYTES
        unfinished = bytearray()
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise AnswerTooLargeError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
            if self._max_values is not None:
                unfinished += chunk
                if end := chunk.rfind(b"\n") + 1:
                    end += len(unfinished) - len(chunk)
                    self._count(bytes(unfinished[:end]))
                    del unfinished[:end]
            yield chunk
        self._count(bytes(unfinished))

    def _count(self, text: bytes) -> None:
        if self._max_values is not None:
            self._values += values_in(text)
            if self._values > self._max_values:
                raise AnswerTooLargeError(f"the answer holds more than {self._max_values} values")

    async def aclose(self) -> None:
        await self._stream.aclose()


@cache
def _tls() -> ssl.SSLContext:
    """Shared by all clients: loading the CA certificates takes longer than most calls."""
    return httpx.create_ssl_context()
