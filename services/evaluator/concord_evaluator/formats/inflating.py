"""Reading compressed files: gzip is recognised by its first bytes, whatever the name of the file."""

import zlib
from collections.abc import Callable
from gzip import BadGzipFile, GzipFile
from io import BufferedReader, RawIOBase
from typing import BinaryIO, Final

MAGIC: Final = b"\x1f\x8b"
MAX_INFLATED: Final = 8 << 30
"""Limit on the bytes of a file after decompression."""

MAX_RATIO: Final = 250
"""Limit on the growth of a file of more than `SMALL` bytes. Traces grow tenfold to fiftyfold, zeros a thousandfold."""

SMALL: Final = 64 << 20


class DamagedError(ValueError):
    """The compressed data is damaged, cut off, or inflates to more than the limits."""


def inflated(start: bytes, rest: BinaryIO, on_read: Callable[[int], None]) -> BinaryIO:
    """The content of a gzip file, of which `start` is already read. Reading it raises DamagedError.

    `on_read` is called with the size of every compressed piece that is read (bytes).
    """
    return BufferedReader(_Inflated(_Rejoined(start, rest, on_read)))


class _Rejoined(RawIOBase):
    """A stream whose beginning was already read."""

    def __init__(self, start: bytes, rest: BinaryIO, on_read: Callable[[int], None]) -> None:
        self._start, self._rest, self._on_read = start, rest, on_read
        self.taken = 0
        """Bytes so far."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        piece = self._start[: len(buffer)] or self._rest.read(len(buffer))
        self._start = self._start[len(buffer) :]
        buffer[: len(piece)] = piece
        self.taken += len(piece)
        self._on_read(len(piece))
        return len(piece)


class _Inflated(RawIOBase):
    """The inflated content, up to the limits."""

    def __init__(self, packed: _Rejoined) -> None:
        self._packed, self._content = packed, GzipFile(fileobj=packed)
        self._inflated = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        try:
            piece = self._content.read1(len(buffer))
        except (EOFError, BadGzipFile, zlib.error) as error:
            raise DamagedError(f"the compressed data is damaged: {error}") from error
        self._inflated += len(piece)
        if self._inflated > MAX_INFLATED:
            raise DamagedError(f"the compressed data inflates to more than {MAX_INFLATED >> 30} GiB")
        if self._inflated > max(SMALL, MAX_RATIO * self._packed.taken):
            raise DamagedError(f"the compressed data inflates to more than {MAX_RATIO} times its size")
        buffer[: len(piece)] = piece
        return len(piece)
