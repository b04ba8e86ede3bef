"""The frames of a journal: bytes with a number, a length and a checksum, so that what is torn or damaged shows.

A frame is what one append writes, and is there as a whole or not at all. Behind its mark come its number (8 bytes,
little-endian), the length of its content (4) and the CRC-32 of both and the content (4).
"""

import struct
from dataclasses import dataclass
from typing import Final
from zlib import crc32

# No UTF-8 has these first two bytes: the mark is in no frame's content.
MARK: Final = b"\xff\xfeJ\n"
_HEADER: Final = struct.Struct("<4sQII")
_SUMMED: Final = struct.Struct("<QI")


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that is whole, and where in its file it ends."""

    number: int
    content: bytes
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The frames up to an offset, where either the file ends, or something does that is no whole frame.

    `resumes` is where behind it the next whole frame begins, if there is one: then it was not the last append that was
    torn, but the file is damaged.
    """

    frames: tuple[Frame, ...]
    end: int
    resumes: int | None


def framed(number: int, content: bytes) -> bytes:
    """The frame with this number and content."""
    return _HEADER.pack(MARK, number, len(content), _checksum(number, content)) + content


def read_frames(data: bytes, start: int) -> Reading:
    """The frames in a file's bytes from an offset on."""
    frames: list[Frame] = []
    end = start
    while (frame := _frame_at(data, end)) is not None:
        frames.append(frame)
        end = frame.end
    return Reading(tuple(frames), end, _next_frame(data, end))


def _next_frame(data: bytes, start: int) -> int | None:
    while (offset := data.find(MARK, start)) >= 0:
        if _frame_at(data, offset) is not None:
            return offset
        start = offset + 1
    return None


def _frame_at(data: bytes, offset: int) -> Frame | None:
    begin = offset + _HEADER.size
    if begin > len(data):
        return None
    mark, number, length, checksum = _HEADER.unpack_from(data, offset)
    content = data[begin : begin + length]
    if mark != MARK or len(content) < length or checksum != _checksum(number, content):
        return None
    return Frame(number, content, begin + length)


def _checksum(number: int, content: bytes) -> int:
    return crc32(content, crc32(_SUMMED.pack(number, len(content))))
