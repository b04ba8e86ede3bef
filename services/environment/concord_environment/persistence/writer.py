"""The journal writer: group commits to the journal, and checkpoints that bound its length."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from concord_environment.core.faults import NotCommitted
from concord_environment.environment import Environment
from concord_environment.persistence.capture import Capture
from concord_environment.persistence.change_tracking import ChangeTracker
from concord_environment.persistence.store import Store

PERIOD_S: Final = 0.1
"""The interval, in seconds, at which the writer looks for changes that no call waits for."""

CHECKPOINT_PERIOD_S: Final = 30.0
CHECKPOINT_BYTES: Final = 16 * 1024 * 1024
"""A checkpoint is due at this age or size of the journal. This bounds what a restart has to read."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Backlog:
    """The journal since the last checkpoint: its size in bytes, and the loop's time at its first frame."""

    size: int = 0
    since: float = 0.0

    def add(self, size: int, now: float) -> None:
        if not self.size:
            self.since = now
        self.size += size

    def is_long(self, now: float) -> bool:
        return self.size > 0 and (self.size >= CHECKPOINT_BYTES or now - self.since >= CHECKPOINT_PERIOD_S)


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """A checkpoint to write: a full capture, its version, its last journal frame, and the calls that wait for it."""

    whole: Capture
    version: int
    frame: int
    requests: list[asyncio.Future[int]]


class JournalWriter:
    """Writes the changes of an environment to a store.

    One task writes one frame after another. All changes made during a write go into the next frame (group commit), so
    calls that wait at the same time share an fsync. If a frame cannot be written, memory is ahead of the disk: the
    writer then calls `on_failure` and refuses every further commit.
    """

    def __init__(self, environment: Environment, store: Store, on_failure: Callable[[], None]) -> None:
        self.failure: str | None = None
        """Why the writer can no longer commit."""
        self._store = store
        self._on_failure = on_failure
        self._changes = ChangeTracker(environment)
        self._committed = self._checkpointed = 0
        self._backlog = _Backlog()
        self._commits: list[tuple[int, asyncio.Future[None]]] = []
        self._requests: list[asyncio.Future[int]] = []
        self._background: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._closing = False

    def version(self) -> int:
        """A number that increases with every change."""
        return self._changes.version()

    async def commit(self) -> None:
        """Returns when all changes so far are on the disk. Raises NotCommitted if they cannot be written."""
        version = self.version()
        if self.failure is not None:
            raise NotCommitted(self.failure)
        if version > self._committed:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._commits.append((version, done))
            self._wake.set()
            await done

    async def checkpoint(self) -> int | None:
        """Writes a snapshot. Returns its size in bytes, or None if nothing has changed since the last one.

        Raises NotCommitted if the snapshot cannot be written. The journal then continues.
        """
        if self.failure is not None:
            raise NotCommitted(self.failure)
        if self.version() == self._checkpointed:
            return None
        size: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._requests.append(size)
        self._wake.set()
        return await size

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Writes changes within the context. Writes a snapshot at its beginning and at its end."""
        self._closing = False
        with ThreadPoolExecutor(1, "journal") as thread:
            writing = asyncio.create_task(self._run(thread))
            try:
                await self.commit()
                yield
            finally:
                self._closing = True
                self._wake.set()
                await writing

    async def _run(self, thread: ThreadPoolExecutor) -> None:
        is_last = False
        while not is_last:
            is_last = self._closing
            try:
                await self._commit_group(thread)
            except Exception as error:
                self._fail(error)
                return
            if not is_last:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), PERIOD_S)
                self._wake.clear()
        await self._finish()

    async def _commit_group(self, thread: ThreadPoolExecutor) -> None:
        version = self.version()
        if self._changes.is_replaced:
            await self._background_done()
            version = self.version()
            await self._write_checkpoint(self._begin_checkpoint(self._changes.capture_all(), version))
        else:
            changes = self._changes.capture_changes() if version > self._committed else None
            # Captured together with the changes, it contains the changes of all frames up to this one and no others.
            whole = self._changes.capture_all() if self._is_checkpoint_due() else None
            if changes is not None:
                size = await asyncio.get_running_loop().run_in_executor(thread, self._append, changes)
                self._backlog.add(size, asyncio.get_running_loop().time())
            if whole is not None:
                checkpoint = self._begin_checkpoint(whole, version)
                self._background = asyncio.create_task(self._try_checkpoint(checkpoint))
        self._committed = version
        self._complete_commits()

    def _append(self, changes: Capture) -> int:
        return self._store.append(changes.delta())

    def _complete_commits(self) -> None:
        for version, done in self._commits:
            if version <= self._committed and not done.done():
                done.set_result(None)
        self._commits = [(version, done) for version, done in self._commits if version > self._committed]

    # --- checkpoints ---

    def _is_checkpoint_due(self) -> bool:
        if self._background is not None and not self._background.done():
            return False
        return bool(self._requests) or self._backlog.is_long(asyncio.get_running_loop().time())

    def _begin_checkpoint(self, whole: Capture, version: int) -> _Checkpoint:
        """Ends the journal's segment at a full capture."""
        self._store.end_segment()
        checkpoint = _Checkpoint(whole, version, self._store.last_frame, self._requests)
        self._requests, self._backlog = [], _Backlog()
        return checkpoint

    async def _write_checkpoint(self, checkpoint: _Checkpoint) -> None:
        """Writes the snapshot, then removes the segments that it contains."""
        try:
            size = await asyncio.to_thread(self._store.write_snapshot, checkpoint.whole, checkpoint.frame)
            await asyncio.to_thread(self._store.remove_segments, checkpoint.frame)
        except Exception as error:
            _refuse(checkpoint.requests, f"the snapshot could not be written: {error}")
            raise
        self._checkpointed = checkpoint.version
        for done in checkpoint.requests:
            if not done.done():
                done.set_result(size)

    async def _try_checkpoint(self, checkpoint: _Checkpoint) -> None:
        """Writes a checkpoint, or logs the failure: the journal still has every change."""
        try:
            await self._write_checkpoint(checkpoint)
        except Exception as error:
            logger.warning("the snapshot could not be written, the journal continues: %s", error, exc_info=error)
            self._backlog.add(1, asyncio.get_running_loop().time())

    async def _background_done(self) -> None:
        if self._background is not None:
            await self._background

    async def _finish(self) -> None:
        await self._background_done()
        version = self.version()
        if version != self._checkpointed:
            await self._try_checkpoint(self._begin_checkpoint(self._changes.capture_all(), version))

    def _fail(self, error: Exception) -> None:
        self.failure = f"no further change can be written to {self._store.path}: {error}"
        logger.critical("%s: stopping; a restart recovers every acknowledged change", self.failure, exc_info=error)
        _refuse([done for _, done in self._commits], self.failure)
        _refuse(self._requests, self.failure)
        self._commits, self._requests = [], []
        self._on_failure()


def _refuse(waiting: list[asyncio.Future[None]] | list[asyncio.Future[int]], why: str) -> None:
    for done in waiting:
        if not done.done():
            done.set_exception(NotCommitted(why))
