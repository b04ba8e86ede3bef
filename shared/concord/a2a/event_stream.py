"""Server-sent events in bytes, up to a size.

httpx-sse's decoder takes text and holds any amount of it; the proxy has to count the bytes that an event takes.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

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
