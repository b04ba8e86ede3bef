"""Queries of the calendar."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, takewhile
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from concord_environment.core.clock import EPOCH, LATEST
from concord_environment.core.faults import Invalid
from concord_environment.modalities.calendar.recurrence import occurrences
from concord_environment.modalities.calendar.state import CalendarEvent, CalendarState, EventState
from concord_environment.modalities.fields import Address, Id, Ids, Line, Moment, Page, SortOrder

CalendarDay = Annotated[date, Field(ge=date(1970, 1, 2), le=date(2199, 12, 30))]
DEFAULT_WINDOW: Final = timedelta(days=365)
MAX_EXPANDED: Final = 20_000
"""The maximum number of occurrences that match a query."""


class CalendarQuery(Page):
    """Finds calendar events that match all given filters, sorted by start unless `sort_by` says otherwise.

    The time window is [`start`, `end`), or the `date` in the user's time zone, which replaces `start` and `end`. A
    series counts as one event. With `expand_recurring`, each occurrence in the window counts as an event. Without an
    `end`, that window is 365 days from `start`, by default from the current time. The query fails for more than 20,000
    occurrences (422). `search` is a substring of title, description or location, in any case. `recurring` selects
    series (true) or single events (false).
    """

    calendar_id: Id | None = None
    calendar_ids: Ids | None = None
    start: Moment | None = None
    end: Moment | None = None
    date: CalendarDay | None = None
    search: Line | None = None
    status: EventState | None = None
    organizer: Address | None = None
    attendee_email: Address | None = None
    has_attendees: bool | None = None
    recurring: bool | None = None
    color: Line | None = None
    expand_recurring: bool = False
    sort_by: Literal["start", "end", "title", "status", "updated_at"] = "start"
    sort_order: SortOrder = "asc"


_SORT_KEYS: Final[dict[str, Callable[[CalendarEvent], tuple[object, ...]]]] = {
    "start": lambda event: (event.start, event.event_id),
    "end": lambda event: (event.end, event.event_id),
    "status": lambda event: (event.status, event.start, event.event_id),
    "title": lambda event: (event.title.casefold(), event.start, event.event_id),
    "updated_at": lambda event: (event.updated_at, event.event_id),
}


def find_events(state: CalendarState, query: CalendarQuery, now: datetime) -> tuple[list[CalendarEvent], int]:
    """The page of events that match a query, and the number of all matches."""
    start, end = _window(state, query)
    if query.expand_recurring and end is None:
        start = start or now
        end = start + DEFAULT_WINDOW
    tests = list(_tests(query))
    candidates = [event for event in _candidates(state, start, end) if all(test(event) for test in tests)]
    if query.expand_recurring:
        expanded = (occurrence for event in candidates for occurrence in _expand(state, event, start, end))
        found = list(islice(expanded, MAX_EXPANDED + 1))
        if len(found) > MAX_EXPANDED:
            raise Invalid(f"more than {MAX_EXPANDED} occurrences: shorten the window between start and end")
    else:
        found = [event for event in candidates if _in_window(event, start, end)]
    found.sort(key=_SORT_KEYS[query.sort_by], reverse=query.sort_order == "desc")
    return found[query.first : query.stop], len(found)


def _candidates(state: CalendarState, start: datetime | None, end: datetime | None) -> Iterable[CalendarEvent]:
    """All events that may overlap [start, end). No series has occurrences before its start."""
    if end is None:
        return state.events.rows()
    if start is None:
        return takewhile(lambda event: event.start < end, state.events.rows())
    return (event for event in state.near(start, end) if event.start < end)


def events_on(state: CalendarState, moment: datetime) -> list[CalendarEvent]:
    """The events on the day of a moment in the user's time zone, by start. A series counts as its occurrences."""
    zone = ZoneInfo(state.current_settings.user_timezone)
    start, end = _day(moment.astimezone(zone).date(), zone)
    return find_events(state, CalendarQuery(start=start, end=end, expand_recurring=True), moment)[0]


def _window(state: CalendarState, query: CalendarQuery) -> tuple[datetime | None, datetime | None]:
    if query.date is None:
        return query.start, query.end
    return _day(query.date, ZoneInfo(state.current_settings.user_timezone))


def _day(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The beginning and the end of a day, within simulated time."""
    midnight = datetime.combine(day, time(), zone)
    begin, end = midnight.astimezone(UTC), (midnight + timedelta(days=1)).astimezone(UTC)
    return max(begin, EPOCH), min(end, LATEST - timedelta(seconds=1))


def _in_window(event: CalendarEvent, start: datetime | None, end: datetime | None) -> bool:
    if event.recurrence is not None and not (start is None and end is None):
        return next(occurrences(event, start, end), None) is not None
    ends_after_start = start is None or event.end > start or event.start == start
    return ends_after_start and (end is None or event.start < end)


def _expand(
    state: CalendarState, event: CalendarEvent, start: datetime | None, end: datetime | None
) -> Iterator[CalendarEvent]:
    if event.recurrence is None:
        if _in_window(event, start, end):
            yield event
        return
    changed = state.changed_occurrences(event)
    for occurrence in occurrences(event, start, end):
        if occurrence.day not in changed:
            yield replace(event, start=occurrence.start, end=occurrence.end, recurrence_id=occurrence.day)


def _tests(query: CalendarQuery) -> Iterable[Callable[[CalendarEvent], bool]]:
    if query.calendar_id is not None or query.calendar_ids is not None:
        calendars = {*(query.calendar_ids or ()), *filter(None, (query.calendar_id,))}
        yield lambda event: event.calendar_id in calendars
    if query.search is not None:
        text = query.search.casefold()
        yield lambda event: text in f"{event.title}\n{event.description}\n{event.location}".casefold()
    if (status := query.status) is not None:
        yield lambda event: event.status == status
    if query.organizer is not None:
        organizer = query.organizer.casefold()
        yield lambda event: event.organizer is not None and event.organizer.casefold() == organizer
    if query.attendee_email is not None:
        email = query.attendee_email.casefold()
        yield lambda event: any(attendee.email.casefold() == email for attendee in event.attendees)
    if (has_attendees := query.has_attendees) is not None:
        yield lambda event: bool(event.attendees) == has_attendees
    if (recurring := query.recurring) is not None:
        yield lambda event: (event.recurrence is not None) == recurring
    if (color := query.color) is not None:
        yield lambda event: event.color == color
