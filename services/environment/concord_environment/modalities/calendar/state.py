"""The tables of a calendar."""

from concord_environment.core.clock import EPOCH, to_us
from concord_environment.core.order import Place
from concord_environment.core.tables import Table
from concord_environment.modalities.calendar.records import PRIMARY, Calendar, CalendarEvent, CalendarSettings
from concord_environment.modalities.states import SELF


def _place(event: CalendarEvent) -> Place:
    return (to_us(event.start),)


def _parent(event: CalendarEvent) -> tuple[str, ...]:
    return () if event.parent_event_id is None else (event.parent_event_id,)


class CalendarState:
    """Events in the order of their start, in one calendar each."""

    def __init__(self) -> None:
        self.events: Table[CalendarEvent] = Table(
            "calendar.events",
            CalendarEvent,
            order=_place,
            indexes={"calendar": lambda event: (event.calendar_id,)},
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

    @property
    def current_settings(self) -> CalendarSettings:
        """The settings that hold."""
        return self.settings.get(SELF) or CalendarSettings()

    def changed_occurrences(self, series: CalendarEvent) -> dict[str, CalendarEvent]:
        """The occurrences of a series that were changed by themselves, by day."""
        changed = self.events.found("parent", series.event_id)
        return {event.recurrence_id: event for event in changed if event.recurrence_id is not None}
