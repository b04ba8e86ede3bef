"""The keeper: writes every change to the journal before anybody is answered, and snapshots that cut the journal."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from concord_environment.core.faults import NotKept
from concord_environment.environment import Environment
from concord_environment.persistence.capture import Capture
from concord_environment.persistence.recorder import Recorder
from concord_environment.persistence.store import Store

PERIOD_S: Final = 0.1
"""How often the keeper looks for changes that no call waits for."""

SNAPSHOT_PERIOD_S: Final = 30.0
SNAPSHOT_BYTES: Final = 16 * 1024 * 1024
"""A snapshot is due when the journal goes back so far or has so many bytes: a restart reads no more than that."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Backlog:
    """What the journal has that no snapshot has: so many bytes, the first of them since an instant of the loop."""

    size: int = 0
    since: float = 0.0

    def add(self, size: int, now: float) -> None:
        if not self.size:
            self.since = now
        self.size += size

    def is_long(self, now: float) -> bool:
        return self.size > 0 and (self.size >= SNAPSHOT_BYTES or now - self.since >= SNAPSHOT_PERIOD_S)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A snapshot to write: all of the environment as of a version, up to which frame, and who asked for it."""

    whole: Capture
    version: int
    frame: int
    asked: list[asyncio.Future[int]]


class Keeper:
    """Keeps an environment in a store.

    One task writes one frame after another. What changes while it writes goes into the next frame, all at once: calls
    that wait at the same time share an fsync. Where a frame cannot be written, memory is ahead of the disk: the keeper
    then calls `on_failure`, and from there on keeps nothing and has nothing answered.
    """

    def __init__(self, environment: Environment, store: Store, on_failure: Callable[[], None]) -> None:
        self.failure: str | None = None
        """Why nothing can be kept any more."""
        self._store = store
        self._on_failure = on_failure
        self._recorder = Recorder(environment)
        self._kept = self._in_snapshot = 0
        self._backlog = _Backlog()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._asked: list[asyncio.Future[int]] = []
        self._snapshot: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._closing = False

    def version(self) -> int:
        """A number that is higher whenever something has changed."""
        return self._recorder.version()

    async def kept(self) -> None:
        """Returns when everything that has changed so far is on the disk. NotKept if it cannot be written."""
        version = self.version()
        if self.failure is not None:
            raise NotKept(self.failure)
        if version > self._kept:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((version, done))
            self._wanted.set()
            await done

    async def save(self) -> int | None:
        """Writes a snapshot. Returns its size in bytes, or None where nothing has changed since the last one.

        NotKept if it cannot be written; the journal goes on then.
        """
        if self.failure is not None:
            raise NotKept(self.failure)
        if self.version() == self._in_snapshot:
            return None
        size: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._asked.append(size)
        self._wanted.set()
        return await size

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keeps the environment for as long as the context lasts; begins and ends with a snapshot."""
        self._closing = False
        with ThreadPoolExecutor(1, "journal") as thread:
            writer = asyncio.create_task(self._write(thread))
            try:
                await self.kept()
                yield
            finally:
                self._closing = True
                self._wanted.set()
                await writer

    async def _write(self, thread: ThreadPoolExecutor) -> None:
        is_last = False
        while not is_last:
            is_last = self._closing
            try:
                await self._write_once(thread)
            except Exception as error:
                self._fail(error)
                return
            if not is_last:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), PERIOD_S)
                self._wanted.clear()
        await self._finish()

    async def _write_once(self, thread: ThreadPoolExecutor) -> None:
        version = self.version()
        if self._recorder.is_replaced:
            await self._snapshot_done()
            version = self.version()
            await self._save(self._take_all(version))
        else:
            changes = self._recorder.take_changes() if version > self._kept else None
            # Captured with the changes, at one moment: it holds what the frames up to this one do, and no more.
            whole = self._recorder.take_all() if self._is_snapshot_due() else None
            if changes is not None:
                size = await asyncio.get_running_loop().run_in_executor(thread, self._append, changes)
                self._backlog.add(size, asyncio.get_running_loop().time())
            if whole is not None:
                self._snapshot = asyncio.create_task(self._save_beside(self._cut(whole, version)))
        self._kept = version
        self._answer()

    def _append(self, changes: Capture) -> int:
        return self._store.append(changes.delta())

    def _answer(self) -> None:
        for version, done in self._waiting:
            if version <= self._kept and not done.done():
                done.set_result(None)
        self._waiting = [(version, done) for version, done in self._waiting if version > self._kept]

    # --- snapshots ---

    def _is_snapshot_due(self) -> bool:
        if self._snapshot is not None and not self._snapshot.done():
            return False
        return bool(self._asked) or self._backlog.is_long(asyncio.get_running_loop().time())

    def _take_all(self, version: int) -> _Cut:
        return self._cut(self._recorder.take_all(), version)

    def _cut(self, whole: Capture, version: int) -> _Cut:
        """Ends a segment of the journal where a capture was taken."""
        self._store.rotate()
        cut = _Cut(whole, version, self._store.frame, self._asked)
        self._asked, self._backlog = [], _Backlog()
        return cut

    async def _save(self, cut: _Cut) -> None:
        """Writes a snapshot, and removes of the journal what is in it."""
        try:
            size = await asyncio.to_thread(self._store.write_snapshot, cut.whole, cut.frame)
            await asyncio.to_thread(self._store.cut, cut.frame)
        except Exception as error:
            _refuse(cut.asked, f"the snapshot could not be written: {error}")
            raise
        self._in_snapshot = cut.version
        for done in cut.asked:
            if not done.done():
                done.set_result(size)

    async def _save_beside(self, cut: _Cut) -> None:
        try:
            await self._save(cut)
        except Exception as error:
            logger.warning("no snapshot could be written, the journal goes on: %s", error, exc_info=error)
            self._backlog.add(1, asyncio.get_running_loop().time())

    async def _snapshot_done(self) -> None:
        if self._snapshot is not None:
            await self._snapshot

    async def _finish(self) -> None:
        await self._snapshot_done()
        if self.version() != self._in_snapshot:
            await self._save_beside(self._take_all(self.version()))

    def _fail(self, error: Exception) -> None:
        self.failure = f"nothing more can be kept in {self._store.path}: {error}"
        logger.critical("%s: stopping, to go on from what was kept", self.failure, exc_info=error)
        _refuse([done for _, done in self._waiting], self.failure)
        _refuse(self._asked, self.failure)
        self._waiting, self._asked = [], []
        self._on_failure()


def _refuse(waiting: list[asyncio.Future[None]] | list[asyncio.Future[int]], why: str) -> None:
    for done in waiting:
        if not done.done():
            done.set_exception(NotKept(why))
