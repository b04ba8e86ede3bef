"""The event queue: every event, in the order in which the simulation executes them."""

from collections import deque
from collections.abc import Iterable
from datetime import datetime
from heapq import heappop, heappush
from itertools import takewhile
from typing import Final

from concord_environment.core.clock import from_us, to_us
from concord_environment.core.events import Event, EventStatus, digest
from concord_environment.core.order import SortKey
from concord_environment.core.tables import Table

_PENDING: Final = ("pending",)
_DONE: Final = ()


class EventQueue:
    """Events ordered by due time, then by priority from high to low, then by sequence."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.table: Table[Event] = Table(
            "events",
            Event,
            order=self.sort_key,
            indexes={"pending": lambda event: _PENDING if event.status is EventStatus.PENDING else _DONE},
            kind=lambda event: (event.status, event.action.modality),
            digest=digest,
        )
        for event in events:
            self.table.write(event.event_id, event)

    def next(self) -> Event | None:
        """The first pending event, or None."""
        return self.table.first("pending", "pending")

    def pending(self) -> Iterable[Event]:
        """The pending events, in order."""
        return self.table.group("pending", "pending")

    def due_by(self, end: int) -> "DueEvents":
        """The pending events due by an instant (µs)."""
        latest = from_us(end)
        return DueEvents(self, takewhile(lambda event: event.scheduled_time <= latest, self.pending()), latest)

    def count(self, *, status: EventStatus | None = None, modality: str | None = None) -> int:
        """The number of events, of one status, one modality or both."""
        kinds = self.table.kinds.items()
        return sum(count for kind, count in kinds if status in (None, kind[0]) and modality in (None, kind[1]))

    def sort_key(self, event: Event) -> SortKey:
        """The event's sort key in the table of events."""
        return (to_us(event.scheduled_time), -event.priority, event.sequence)


class DueEvents:
    """The pending events due by an instant, in order.

    `join` adds events scheduled during the iteration. No event may be cancelled or skipped during the iteration.
    """

    def __init__(self, queue: EventQueue, events: Iterable[Event], latest: datetime) -> None:
        self._queue = queue
        self._latest = latest
        self._waiting = deque(events)
        self._joined: list[tuple[SortKey, Event]] = []

    def join(self, event: Event) -> None:
        """Adds a new event if it is due by the instant."""
        if event.scheduled_time <= self._latest:
            heappush(self._joined, (self._queue.sort_key(event), event))

    def next(self) -> Event | None:
        """The next event, or None at the end."""
        joined, waiting = self._joined, self._waiting
        if joined and (not waiting or joined[0][0] < self._queue.sort_key(waiting[0])):
            return heappop(joined)[1]
        return waiting.popleft() if waiting else None
