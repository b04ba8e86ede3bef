"""The format of journal frames: content with a number, a length and a checksum that reveal torn and damaged frames.

One append writes one frame. A frame is a magic number (4 bytes), the frame's number (8 bytes, little-endian), the
length of the content (4), the CRC-32 of number, length and content (4), and the content.
"""

import struct
from dataclasses import dataclass
from typing import Final
from zlib import crc32

# The content is UTF-8, which never contains the first two bytes.
MAGIC: Final = b"\xff\xfeJ\n"
_HEADER: Final = struct.Struct("<4sQII")
_SUMMED: Final = struct.Struct("<QI")


@dataclass(frozen=True, slots=True)
class Frame:
    """An intact frame. `end` is the offset after the frame in its file."""

    number: int
    content: bytes
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The intact frames up to the offset `end`, where the file ends or a broken frame begins.

    `next_intact` is the offset of the next intact frame after a broken one, or None. A torn append is the last frame
    of a file, so an intact frame after a broken one means damage.
    """

    frames: tuple[Frame, ...]
    end: int
    next_intact: int | None


def encode_frame(number: int, content: bytes) -> bytes:
    """The bytes of a frame."""
    return _HEADER.pack(MAGIC, number, len(content), _checksum(number, content)) + content


def scan_frames(data: bytes, start: int) -> Scan:
    """Reads the frames of a file from an offset on."""
    frames: list[Frame] = []
    end = start
    while (frame := _frame_at(data, end)) is not None:
        frames.append(frame)
        end = frame.end
    return Scan(tuple(frames), end, _next_frame(data, end))


def _next_frame(data: bytes, start: int) -> int | None:
    while (offset := data.find(MAGIC, start)) >= 0:
        if _frame_at(data, offset) is not None:
            return offset
        start = offset + 1
    return None


def _frame_at(data: bytes, offset: int) -> Frame | None:
    begin = offset + _HEADER.size
    if begin > len(data):
        return None
    magic, number, length, checksum = _HEADER.unpack_from(data, offset)
    content = data[begin : begin + length]
    if magic != MAGIC or len(content) < length or checksum != _checksum(number, content):
        return None
    return Frame(number, content, begin + length)


def _checksum(number: int, content: bytes) -> int:
    return crc32(content, crc32(_SUMMED.pack(number, len(content))))
