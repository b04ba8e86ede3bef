"""The store of one environment: a snapshot file, and a journal of the changes after the snapshot."""

import fcntl
import os
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from concord_environment.core.faults import Invalid
from concord_environment.environment import Environment
from concord_environment.persistence.capture import Capture, restore
from concord_environment.persistence.frames import Frame, encode_frame
from concord_environment.persistence.schema import Delta, read_snapshot, roll_forward
from concord_environment.persistence.segments import (
    StoreError,
    read_journal,
    segment_header,
    segment_path,
    segments_of,
)


class Store:
    """The files of one environment, locked by one process and readable by their owner only.

    Appends and snapshots may come from two threads. Their content is on the disk when they return, as far as fsync
    guarantees that.
    """

    def __init__(self, path: Path) -> None:
        """Locks the files. Raises StoreError if another process holds the lock."""
        self.path = path
        self.journal_id = uuid4().hex
        """The id that ties segments to their snapshot."""
        self.last_frame = 0
        """The number of the last frame."""
        self._segment: int | None = None
        self._lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise StoreError(f"{path}: another process uses this file") from error

    def close(self) -> None:
        """Closes the segment and releases the lock."""
        self.end_segment()
        os.close(self._lock)

    def recover(self, seed: int) -> Environment:
        """The environment at the last acknowledged change, or a new one if nothing is stored.

        Only reads: the caller has to write a snapshot before the first append. Raises Invalid for a malformed
        snapshot, StoreError for a journal in which a change since the snapshot is missing.
        """
        if not self.path.exists():
            if segments := segments_of(self.path):
                raise StoreError(f"{segments[0].path}: the snapshot of this journal, {self.path}, is missing")
            return Environment(seed)
        try:
            snapshot = read_snapshot(self.path.read_bytes())
        except Invalid as error:
            raise Invalid(f"{self.path}: {error}") from error
        self.journal_id = snapshot.journal or self.journal_id
        frames = read_journal(self.path, self.journal_id, snapshot.frame)
        self.last_frame = frames[-1].number if frames else snapshot.frame
        return restore(roll_forward(snapshot, map(_delta, frames)))

    def append(self, content: bytes) -> int:
        """Appends a frame to the journal. Returns its size in bytes. Raises OSError if it may not be on the disk."""
        number = self.last_frame + 1
        frame, new = encode_frame(number, content), self._segment is None
        if self._segment is None:
            self._segment = _create(segment_path(self.path, number))
            frame = segment_header(self.journal_id, number) + frame
        size = os.fstat(self._segment).st_size
        try:
            _write(self._segment, frame)
        except OSError:
            # Recovery must not find a frame that was never acknowledged. If truncation fails too, it may.
            os.ftruncate(self._segment, size)
            raise
        if new:
            _sync_folder(self.path.parent)
        self.last_frame = number
        return len(frame)

    def end_segment(self) -> None:
        """Ends the current segment. The next frame begins a new one."""
        if self._segment is not None:
            os.close(self._segment)
            self._segment = None

    def write_snapshot(self, whole: Capture, frame: int) -> int:
        """Replaces the snapshot atomically by a capture that contains the changes of all frames up to `frame`.

        Returns its size in bytes.
        """
        content = whole.snapshot(self.journal_id, frame)
        # Not concord.files.atomic_file: its temporary files have unique names, so each kill would leave one behind.
        beside = self.path.with_suffix(f"{self.path.suffix}.new")
        with os.fdopen(_create(beside), "wb") as file:
            _write(file.fileno(), content)
        beside.replace(self.path)
        _sync_folder(self.path.parent)
        return len(content)

    def remove_segments(self, frame: int) -> None:
        """Removes the segments up to `frame`, the last frame of a segment. The snapshot has to contain them."""
        for segment in segments_of(self.path):
            if segment.first <= frame:
                segment.path.unlink()


def _delta(frame: Frame) -> Delta:
    try:
        return Delta.model_validate_json(frame.content)
    except ValidationError as error:
        raise StoreError(f"this version cannot read frame {frame.number} of the journal") from error


def _create(path: Path) -> int:
    # Owner only: the files hold private messages and hashes of keys. An unfinished file of this name is overwritten.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)


def _write(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
