"""Admission: so many assessments run at once, so many more wait for their turn, and the next is sent away."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

MAX_WAITING_BYTES: Final = 64 * 1024 * 1024
"""Of all requests that wait together: each is kept as it came until its turn."""


class FullError(Exception):
    """As many wait as may; the text tells the client."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    turn: asyncio.Future[None]
    size: int
    on_move: Callable[[int], None]


class Admission:
    """Places for assessments, given in the order in which these came."""

    def __init__(self, places: int, max_waiting: int) -> None:
        self._places = places
        self._taken = 0
        self._max_waiting = max_waiting
        self._queue: dict[_Waiting, None] = {}
        self._waiting_bytes = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
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
        """A place, once there is one, for as long as the block runs. Raises FullError, unless it was `accepted` before.

        `size`: of the request, in bytes. `on_wait` is told the position once where there is no place yet (1: the next),
        `on_move` whenever it changes.
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
                self._leave()  # its turn came while it went away
            raise

    def _leave(self) -> None:
        """Hands a place on to who waits longest."""
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
