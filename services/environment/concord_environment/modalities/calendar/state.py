"""The tables of a calendar."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from concord_environment.core.clock import EPOCH, to_us
from concord_environment.core.order import Place
from concord_environment.core.tables import Table
from concord_environment.modalities.calendar.records import PRIMARY, Calendar, CalendarEvent, CalendarSettings
from concord_environment.modalities.states import SELF


def _place(event: CalendarEvent) -> Place:
    return (to_us(event.start),)


EVER: Final = "ever"
"""The word for events that may happen in many months, as series do."""

_MONTHS: Final = 12
"""An event in more months than these is looked at whatever the window."""


def months(start: datetime, end: datetime, at_most: int = _MONTHS) -> tuple[str, ...] | None:
    """The months (UTC) that a time is in, both of its ends included; None if they are too many."""
    numbers = range(start.year * 12 + start.month, end.year * 12 + end.month + 1)
    return tuple(map(str, numbers)) if len(numbers) <= at_most else None


def _months(event: CalendarEvent) -> tuple[str, ...]:
    in_months = None if event.recurrence is not None else months(event.start, event.end)
    return in_months or (EVER,)


def _parent(event: CalendarEvent) -> tuple[str, ...]:
    return () if event.parent_event_id is None else (event.parent_event_id,)


class CalendarState:
    """Events in the order of their start, in one calendar each."""

    def __init__(self) -> None:
        self.events: Table[CalendarEvent] = Table(
            "calendar.events",
            CalendarEvent,
            order=_place,
            indexes={"calendar": lambda event: (event.calendar_id,), "month": _months},
            lookups={"parent": _parent},
        )
        self.calendars: Table[Calendar] = Table("calendar.calendars", Calendar)
        self.settings: Table[CalendarSettings] = Table("calendar.settings", CalendarSettings)

    def furnish(self) -> None:
        """Puts in what every new calendar has: one calendar to put events into."""
        self.calendars.write(PRIMARY, Calendar(PRIMARY, "Personal", EPOCH, EPOCH))

    @property
    def tables(self) -> tuple[Table[CalendarEvent], Table[Calendar], Table[CalendarSettings]]:
        """Its tables."""
        return self.events, self.calendars, self.settings

    def near(self, start: datetime, end: datetime) -> Iterable[CalendarEvent]:
        """The events that may happen in [start, end), and others."""
        words = months(start, end)
        if words is None:
            return self.events.rows()
        found = (event for word in (*words, EVER) for event in self.events.group("month", word))
        return {event.event_id: event for event in found}.values()

    @property
    def current_settings(self) -> CalendarSettings:
        """The settings that hold."""
        return self.settings.get(SELF) or CalendarSettings()

    def changed_occurrences(self, series: CalendarEvent) -> dict[str, CalendarEvent]:
        """The occurrences of a series that were changed by themselves, by day."""
        changed = self.events.found("parent", series.event_id)
        return {event.recurrence_id: event for event in changed if event.recurrence_id is not None}
