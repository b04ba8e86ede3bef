"""Closed trials. A trial's tokens expire when the trial is closed."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

from cachetools import FIFOCache, TTLCache

IsClosed = Callable[[str], Awaitable[bool]]
"""Asks storage whether a trace is closed. Raises StorageUnavailableError."""

ASK_AGAIN_S: Final = 1.0
"""How long an open trial is cached as open: another process may close it."""

_MAX_REMEMBERED: Final = 4096


class ClosedTrials:
    """A cache of which trials are closed, which every call through the proxy needs to know."""

    def __init__(self, is_closed: IsClosed) -> None:
        self._ask_storage = is_closed
        self._open: TTLCache[str, None] = TTLCache(_MAX_REMEMBERED, ASK_AGAIN_S)
        self._closed: FIFOCache[str, None] = FIFOCache(_MAX_REMEMBERED)
        """Trace ids."""
        self._on_close: defaultdict[str, set[Callable[[], object]]] = defaultdict(set)

    def add(self, trace_id: str) -> None:
        """Records that a trial was closed."""
        self._open.pop(trace_id, None)
        self._closed[trace_id] = None

    @contextmanager
    def calling_on_close(self, trace_id: str, callback: Callable[[], object]) -> Iterator[None]:
        """Registers `callback` for the duration of the block: it is called when the trial is closed."""
        self._on_close[trace_id].add(callback)
        try:
            yield
        finally:
            self._on_close[trace_id].discard(callback)
            if not self._on_close[trace_id]:
                del self._on_close[trace_id]

    def notify(self, trace_id: str) -> None:
        """Calls the registered functions of a trial, which end its open calls."""
        for callback in list(self._on_close.get(trace_id, ())):
            callback()

    async def is_closed(self, trace_id: str) -> bool:
        """Whether the trial of that trace is closed. Raises StorageUnavailableError."""
        if trace_id in self._closed:
            return True
        if trace_id in self._open:
            return False
        if await self._ask_storage(trace_id):
            self.add(trace_id)
            return True
        if trace_id not in self._closed:  # unless it was closed here in the meantime
            self._open[trace_id] = None
        return trace_id in self._closed
