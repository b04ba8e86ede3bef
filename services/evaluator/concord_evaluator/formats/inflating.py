"""Reading compressed files: gzip is recognised by its first bytes, whatever the name of the file."""

import zlib
from collections.abc import Callable
from gzip import BadGzipFile, GzipFile
from io import BufferedReader, RawIOBase
from typing import BinaryIO, Final

MAGIC: Final = b"\x1f\x8b"
MAX_INFLATED: Final = 8 << 30
"""Limit on the bytes of a file after decompression. A file of zeros grows a thousandfold."""


class DamagedError(ValueError):
    """The compressed data is damaged, cut off, or inflates to more than `MAX_INFLATED` bytes."""


def inflated(start: bytes, rest: BinaryIO, on_read: Callable[[int], None]) -> BinaryIO:
    """The content of a gzip file, of which `start` is already read. Reading it raises DamagedError.

    `on_read` is called with the size of every compressed piece that is read (bytes).
    """
    return BufferedReader(_Inflated(GzipFile(fileobj=_Rejoined(start, rest, on_read))))


class _Rejoined(RawIOBase):
    """A stream whose beginning was already read."""

    def __init__(self, start: bytes, rest: BinaryIO, on_read: Callable[[int], None]) -> None:
        self._start, self._rest, self._on_read = start, rest, on_read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        piece = self._start[: len(buffer)] or self._rest.read(len(buffer))
        self._start = self._start[len(buffer) :]
        buffer[: len(piece)] = piece
        self._on_read(len(piece))
        return len(piece)


class _Inflated(RawIOBase):
    """The inflated content, up to `MAX_INFLATED` bytes."""

    def __init__(self, content: GzipFile) -> None:
        self._content = content
        self._left = MAX_INFLATED

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        try:
            piece = self._content.read1(len(buffer))
        except (EOFError, BadGzipFile, zlib.error) as error:
            raise DamagedError(f"the compressed data is damaged: {error}") from error
        self._left -= len(piece)
        if self._left < 0:
            raise DamagedError(f"the compressed data inflates to more than {MAX_INFLATED >> 30} GiB")
        buffer[: len(piece)] = piece
        return len(piece)
