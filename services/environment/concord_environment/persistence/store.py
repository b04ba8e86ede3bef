"""The store: the files that an environment is kept in, its snapshot and the journal of what changed since."""

import fcntl
import os
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from concord_environment.core.faults import Invalid
from concord_environment.environment import Environment
from concord_environment.persistence.capture import Capture
from concord_environment.persistence.frames import Frame, framed
from concord_environment.persistence.segments import (
    DamagedError,
    read_journal,
    segment_head,
    segment_path,
    segments_of,
)
from concord_environment.persistence.snapshot import read, restore
from concord_environment.persistence.stored import Delta, merged


class Store:
    """The files of one environment. They are for one process at a time, and for its owner's eyes.

    Appends and snapshots may come from two threads. What they return from is on the disk, as far as the disk says.
    """

    def __init__(self, path: Path) -> None:
        """Takes the files. DamagedError if another process has them."""
        self.path = path
        self.journal = uuid4().hex
        """Whose segments are whose: a snapshot goes on with no other journal than its own."""
        self.frame = 0
        """The number of the last frame."""
        self._segment: int | None = None
        self._lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise DamagedError(f"{path}: another process keeps its environment there") from error

    def close(self) -> None:
        """Leaves the files to another process."""
        self.rotate()
        os.close(self._lock)

    def recover(self, seed: int) -> Environment:
        """The environment as it was when the last change was acknowledged; a new one, where nothing is kept.

        Reads only: whoever goes on from it writes a snapshot first. Invalid for a snapshot that is none, DamagedError
        for a journal that does not hold everything since.
        """
        if not self.path.exists():
            if segments := segments_of(self.path):
                raise DamagedError(f"{segments[0].path}: the snapshot that it goes on from, {self.path}, is missing")
            return Environment(seed)
        try:
            snapshot = read(self.path.read_bytes())
        except Invalid as error:
            raise Invalid(f"{self.path}: {error}") from error
        self.journal = snapshot.journal or self.journal
        frames = read_journal(self.path, self.journal, snapshot.frame)
        self.frame = frames[-1].number if frames else snapshot.frame
        return restore(merged(snapshot, map(_delta, frames)))

    def append(self, content: bytes) -> int:
        """Adds a frame to the journal. Returns its size in bytes; OSError if it may not be on the disk."""
        number = self.frame + 1
        frame, new = framed(number, content), self._segment is None
        if self._segment is None:
            self._segment = _create(segment_path(self.path, number))
            frame = segment_head(self.journal, number) + frame
        size = os.fstat(self._segment).st_size
        try:
            _write(self._segment, frame)
        except OSError:
            # It is not to be there at the next start; where even that fails, it is still not acknowledged.
            os.ftruncate(self._segment, size)
            raise
        if new:
            _sync_folder(self.path.parent)
        self.frame = number
        return len(frame)

    def rotate(self) -> None:
        """Has the next frame begin another segment."""
        if self._segment is not None:
            os.close(self._segment)
            self._segment = None

    def write_snapshot(self, whole: Capture, frame: int) -> int:
        """Puts a snapshot that holds what the frames up to one do in the place of the last. Returns its size in bytes.

        It is written whole or not at all.
        """
        content = whole.snapshot(self.journal, frame)
        beside = self.path.with_suffix(f"{self.path.suffix}.new")
        with os.fdopen(_create(beside), "wb") as file:
            _write(file.fileno(), content)
        beside.replace(self.path)
        _sync_folder(self.path.parent)
        return len(content)

    def cut(self, frame: int) -> None:
        """Removes the segments up to a frame, which is in the snapshot and with which a segment ended."""
        for segment in segments_of(self.path):
            if segment.first <= frame:
                segment.path.unlink()


def _delta(frame: Frame) -> Delta:
    try:
        return Delta.model_validate_json(frame.content)
    except ValidationError as error:
        raise DamagedError(f"frame {frame.number} of the journal is none that this version reads") from error


def _create(path: Path) -> int:
    # It holds hashes of keys and everybody's mail. What is there by that name was left unfinished.
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
