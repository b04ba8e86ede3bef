"""Admission control: a bounded number of assessments run, a bounded number wait in order, and the rest are refused."""

import asyncio
from collections import Counter
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
    owner: str
    turn: asyncio.Future[None]
    size: int
    on_move: Callable[[int], None]


class Admission:
    """Slots for running assessments, granted in order of arrival to owners that have not their share of them."""

    def __init__(self, places: int, max_waiting: int, *, share: float = 1.0) -> None:
        """`share`: the part of the places, and of the waiting line, that one owner may take (at least one of each)."""
        self._places = places
        self._share = share
        self._taken = 0
        self._taken_by: Counter[str] = Counter()
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
        owner: str = "",
        accepted: bool = False,
    ) -> AsyncIterator[None]:
        """Holds a slot for the duration of the block. Raises FullError, unless the assessment was `accepted` before.

        `size` is the length of the request (bytes). `on_wait` gets the position once, if there is no slot yet (1: next
        in line), and `on_move` gets each new position. `owner`: whose share of the places it takes.
        """
        if self._may_take(owner):
            self._take(owner)
        else:
            await self._turn(owner, size, on_wait, on_move, accepted=accepted)
        try:
            yield
        finally:
            self._leave(owner)

    def _of_one(self, count: int) -> int:
        return max(1, int(count * self._share))

    def _may_take(self, owner: str) -> bool:
        return self._taken < self._places and self._taken_by[owner] < self._of_one(self._places)

    def _take(self, owner: str) -> None:
        self._taken += 1
        self._taken_by[owner] += 1

    def _refusal(self, owner: str, size: int) -> str | None:
        """Why an assessment cannot wait; None if it can."""
        theirs = [each.size for each in self._queue if each.owner == owner]
        if len(theirs) >= self._of_one(self._max_waiting) or sum(theirs) + size > self._of_one(MAX_WAITING_BYTES):
            mine = f"{self._taken_by[owner]} assessments are running and {len(theirs)} wait"
            return f"busy: {mine}{' of this API key' if owner else ''}; try again later"
        if len(self._queue) >= self._max_waiting or self._waiting_bytes + size > MAX_WAITING_BYTES:
            return f"busy: {self._taken} assessments are running and {len(self._queue)} wait; try again later"
        return None

    async def _turn(
        self,
        owner: str,
        size: int,
        on_wait: Callable[[int], Awaitable[None]],
        on_move: Callable[[int], None],
        *,
        accepted: bool,
    ) -> None:
        if not accepted and (refusal := self._refusal(owner, size)) is not None:
            raise FullError(refusal)
        waiting = _Waiting(owner, asyncio.get_running_loop().create_future(), size, on_move)
        self._queue[waiting] = None
        self._waiting_bytes += size
        try:
            await on_wait(len(self._queue))
            await waiting.turn
        except BaseException:
            if waiting in self._queue:
                self._dequeue(waiting)
            else:
                self._leave(owner)  # the slot was granted while the request was being cancelled
            raise

    def _leave(self, owner: str) -> None:
        """Passes the slot to the first in line whose owner has not its share."""
        self._taken -= 1
        self._taken_by -= Counter([owner])
        if (first := next((each for each in self._queue if self._may_take(each.owner)), None)) is not None:
            self._dequeue(first)
            self._take(first.owner)
            first.turn.set_result(None)

    def _dequeue(self, gone: _Waiting) -> None:
        del self._queue[gone]
        self._waiting_bytes -= gone.size
        for position, each in enumerate(self._queue, start=1):
            each.on_move(position)
