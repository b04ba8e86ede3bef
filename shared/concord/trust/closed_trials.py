"""Which trials are over: with a trial end the tokens that it was begun with."""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

IsClosed = Callable[[str], Awaitable[bool]]
"""Whether storage knows a trace as closed. Raises StorageUnavailableError."""

ASK_AGAIN_S: Final = 1.0
"""For how long a trial that was open counts as open, where another process closes it."""

_MAX_REMEMBERED: Final = 4096


class ClosedTrials:
    """What storage says of trials, remembered: each call through the proxy asks for it."""

    def __init__(self, is_closed: IsClosed) -> None:
        self._is_closed = is_closed
        self._open_until: OrderedDict[str, float] = OrderedDict()
        """By trace id, until when it counts as open (monotonic)."""
        self._closed: OrderedDict[str, None] = OrderedDict()
        self._leaving: defaultdict[str, set[Callable[[], object]]] = defaultdict(set)

    def note(self, trace_id: str) -> None:
        """Notes that a trial was closed."""
        self._open_until.pop(trace_id, None)
        self._closed[trace_id] = None
        while len(self._closed) > _MAX_REMEMBERED:
            self._closed.popitem(last=False)

    @contextmanager
    def leaving(self, trace_id: str, leave: Callable[[], object]) -> Iterator[None]:
        """Has `leave` called should all be sent away from this trial while the block goes on."""
        self._leaving[trace_id].add(leave)
        try:
            yield
        finally:
            self._leaving[trace_id].discard(leave)
            if not self._leaving[trace_id]:
                del self._leaving[trace_id]

    def send_away(self, trace_id: str) -> None:
        """Ends whatever is still under way in a trial."""
        for leave in list(self._leaving.get(trace_id, ())):
            leave()

    async def contain(self, trace_id: str) -> bool:
        """Whether the trial of that trace is closed. Raises StorageUnavailableError."""
        if trace_id in self._closed:
            return True
        if self._open_until.get(trace_id, 0.0) > time.monotonic():
            return False
        if await self._is_closed(trace_id):
            self.note(trace_id)
            return True
        if trace_id not in self._closed:  # nor closed here while storage was asked
            self._open_until[trace_id] = time.monotonic() + ASK_AGAIN_S
            self._open_until.move_to_end(trace_id)
        while len(self._open_until) > _MAX_REMEMBERED:
            self._open_until.popitem(last=False)
        return trace_id in self._closed
