"""Admission control: a bounded number of assessments run, a bounded number wait in order, and the rest are refused."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

MAX_WAITING_BYTES: Final = 64 * 1024 * 1024
"""Limit on the requests that wait, together: each is kept unparsed until its turn."""


class FullError(Exception):
    """The waiting line is full; the text tells the client."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    turn: asyncio.Future[None]
    size: int
    on_move: Callable[[int], None]


class Admission:
    """Slots for running assessments, granted in order of arrival."""

    def __init__(self, places: int, max_waiting: int) -> None:
        self._places = places
        self._taken = 0
        self._max_waiting = max_waiting
        self._queue: dict[_Waiting, None] = {}
        self._waiting_bytes = 0

    @property
    def running(self) -> int:
        """The number of assessments that have a slot."""
        return self._taken

    @property
    def waiting(self) -> int:
        """The number of assessments that wait."""
        return len(self._queue)

    @asynccontextmanager
    async def place(
        self,
        size: int,
        on_wait: Callable[[int], Awaitable[None]],
        on_move: Callable[[int], None],
        *,
        accepted: bool = False,
    ) -> AsyncIterator[None]:
        """Holds a slot for the duration of the block. Raises FullError, unless the assessment was `accepted` before.

        `size` is the length of the request (bytes). `on_wait` gets the position once, if there is no slot yet (1: next
        in line), and `on_move` gets each new position.
        """
        if self._taken < self._places:
            self._taken += 1
        else:
            await self._turn(size, on_wait, on_move, accepted=accepted)
        try:
            yield
        finally:
            self._leave()

    async def _turn(
        self,
        size: int,
        on_wait: Callable[[int], Awaitable[None]],
        on_move: Callable[[int], None],
        *,
        accepted: bool,
    ) -> None:
        full = len(self._queue) >= self._max_waiting or self._waiting_bytes + size > MAX_WAITING_BYTES
        if full and not accepted:
            raise FullError(f"busy: {self._taken} assessments are running and {len(self._queue)} wait; try again later")
        waiting = _Waiting(asyncio.get_running_loop().create_future(), size, on_move)
        self._queue[waiting] = None
        self._waiting_bytes += size
        try:
            await on_wait(len(self._queue))
            await waiting.turn
        except BaseException:
            if waiting in self._queue:
                self._dequeue(waiting)
            else:
                self._leave()  # the slot was granted while the request was being cancelled
            raise

    def _leave(self) -> None:
        """Passes the slot to the first in line."""
        if self._queue:
            first = next(iter(self._queue))
            self._dequeue(first)
            first.turn.set_result(None)
        else:
            self._taken -= 1

    def _dequeue(self, gone: _Waiting) -> None:
        del self._queue[gone]
        self._waiting_bytes -= gone.size
        for position, each in enumerate(self._queue, start=1):
            each.on_move(position)
