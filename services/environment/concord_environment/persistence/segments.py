"""The files of a journal: segments beside the snapshot, each named for its first frame, and reading them back."""

import logging
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from concord_environment.persistence.frames import Frame, Reading, read_frames

logger = logging.getLogger(__name__)


class DamagedError(Exception):
    """Files from which not every acknowledged change can be read back. The message names the file and the offset."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a journal, and the number of its first frame."""

    path: Path
    first: int


def segment_path(snapshot: Path, first: int) -> Path:
    """Where the segment lies that begins with this frame."""
    return snapshot.with_name(f"{snapshot.name}.journal-{first:020}")


def segment_head(journal: str, first: int) -> bytes:
    """How a segment begins: whose it is, and with which frame."""
    return f"concord-journal 1 {journal} {first:020}\n".encode()


def segments_of(snapshot: Path) -> list[Segment]:
    """The segments beside a snapshot, in order."""
    prefix = f"{snapshot.name}.journal-"
    named = ((path, path.name.removeprefix(prefix)) for path in sorted(snapshot.parent.glob(f"{escape(prefix)}*")))
    return [Segment(path, int(number)) for path, number in named if number.isdecimal()]


def read_journal(snapshot: Path, journal: str, after: int) -> list[Frame]:
    """The frames after the one that the snapshot ends with.

    What an append left unfinished is cut off, with a line in the log: nobody was answered on account of it.
    DamagedError where anything else is missing or no longer what was written.
    """
    segments = segments_of(snapshot)
    frames: list[Frame] = []
    for segment in segments:
        # Those before may be left over in part, from a power loss while they were removed.
        for frame in _frames(segment, journal, is_last=segment is segments[-1]):
            if frame.number > after:
                after += 1
                if frame.number > after:
                    raise DamagedError(f"{segment.path}: frame {after} is missing before frame {frame.number}")
                frames.append(frame)
    return frames


def _frames(segment: Segment, journal: str, *, is_last: bool) -> tuple[Frame, ...]:
    data, head = segment.path.read_bytes(), segment_head(journal, segment.first)
    begun = data.startswith(head)
    reading = read_frames(data, len(head)) if begun else read_frames(data, 0)
    if reading.resumes is not None or (reading.end < len(data) and not is_last):
        raise DamagedError(_damage(segment, reading, data))
    if not begun and not (is_last and (head.startswith(data) or not any(data))):
        raise DamagedError(f"{segment.path}: damaged at offset 0: this is no journal of the snapshot beside it")
    if reading.end < len(data):
        torn = len(data) - reading.end
        logger.warning(
            "%s: the last append was torn: %d bytes from offset %d on are cut off", segment.path, torn, reading.end
        )
    if [frame.number for frame in reading.frames] != list(range(segment.first, segment.first + len(reading.frames))):
        raise DamagedError(f"{segment.path}: its frames are not numbered one after the other from {segment.first} on")
    return reading.frames


def _damage(segment: Segment, reading: Reading, data: bytes) -> str:
    behind = len(data) - reading.end
    more = "later segments follow" if reading.resumes is None else f"whole frames follow from {reading.resumes} on"
    return f"{segment.path}: damaged at offset {reading.end}, {behind} bytes before its end: {more}"
