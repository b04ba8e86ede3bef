"""The segment files of a journal, each named after its first frame, and reading the journal back."""

import logging
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from concord_environment.persistence.frames import Frame, Scan, scan_frames

logger = logging.getLogger(__name__)


class StoreError(Exception):
    """The stored files are in use by another process, or do not contain every acknowledged change.

    The message names the file, and the offset of any damage.
    """


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a journal, and the number of its first frame."""

    path: Path
    first: int


def segment_path(snapshot: Path, first: int) -> Path:
    """The path of the segment that begins with this frame."""
    return snapshot.with_name(f"{snapshot.name}.journal-{first:020}")


def segment_header(journal: str, first: int) -> bytes:
    """The first line of a segment: the id of its journal and the number of its first frame."""
    return f"concord-journal 1 {journal} {first:020}\n".encode()


def segments_of(snapshot: Path) -> list[Segment]:
    """The segments beside a snapshot, in order."""
    prefix = f"{snapshot.name}.journal-"
    named = ((path, path.name.removeprefix(prefix)) for path in sorted(snapshot.parent.glob(f"{escape(prefix)}*")))
    return [Segment(path, int(number)) for path, number in named if number.isdecimal()]


def read_journal(snapshot: Path, journal: str, after: int) -> list[Frame]:
    """The frames after the last frame that the snapshot contains.

    Logs a torn append at the end and ignores it: no call was answered before its append was complete. Raises
    StoreError if any other frame is missing or damaged.
    """
    segments = segments_of(snapshot)
    frames: list[Frame] = []
    for segment in segments:
        # A power loss during the removal of segments can leave some of those that the snapshot contains.
        for frame in _frames(segment, journal, is_last=segment is segments[-1]):
            if frame.number > after:
                after += 1
                if frame.number > after:
                    raise StoreError(f"{segment.path}: frame {after} is missing before frame {frame.number}")
                frames.append(frame)
    return frames


def _frames(segment: Segment, journal: str, *, is_last: bool) -> tuple[Frame, ...]:
    data, header = segment.path.read_bytes(), segment_header(journal, segment.first)
    has_header = data.startswith(header)
    scan = scan_frames(data, len(header) if has_header else 0)
    if scan.next_intact is not None or (scan.end < len(data) and not is_last):
        raise StoreError(_damage(segment, scan, data))
    if not has_header and not (is_last and (header.startswith(data) or not any(data))):
        raise StoreError(f"{segment.path}: damaged at offset 0: this is not a journal of the snapshot beside it")
    if scan.end < len(data):
        torn = len(data) - scan.end
        logger.warning(
            "%s: the last append was torn: ignoring %d bytes from offset %d on", segment.path, torn, scan.end
        )
    if [frame.number for frame in scan.frames] != list(range(segment.first, segment.first + len(scan.frames))):
        raise StoreError(f"{segment.path}: its frames are not numbered consecutively from {segment.first}")
    return scan.frames


def _damage(segment: Segment, scan: Scan, data: bytes) -> str:
    behind = len(data) - scan.end
    following = "later segments" if scan.next_intact is None else f"intact frames from offset {scan.next_intact}"
    return f"{segment.path}: damaged at offset {scan.end}, {behind} bytes before its end: {following} follow"
